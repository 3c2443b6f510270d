// Stream: opaque bytes, one stream for each rank, in a few files for all. Writing and reading are local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock {

// Threads: one thread at a time may use a Stream. It starts no threads.
class Stream {
 public:
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();  // drops unpublished data; local; on all ranks or none

  // Collective. Creates a container with one stream for each rank of COMM. Nothing changes at PATH until close; an
  // existing file stays until then. OPTIONS, such as "files=4,chunk_bytes=4MiB", any of
  //   files=N | node     number of files; each holds a contiguous group of ranks; node: one per node
  //   chunk_bytes=1MiB   unit of space for a rank, rounded up to file-system blocks; ranks never share a block
  //   buffer_bytes=1MiB  memory that collects small writes
  //   io=buffered|direct
  //   durability=full|none: none only omits the syncs
  static Result<Stream> create(const Communicator& comm, std::string path, std::string_view options = {});
  // Collective. Opens a container for reading, on any number of ranks.
  static Result<Stream> open(const Communicator& comm, std::string path);

  // Local, no communication. Appends to this rank's stream: any number of calls, of any size. A failed write makes
  // close fail with its error, on all ranks.
  Status write(std::span<const std::byte> bytes);

  // Local. Reads bytes of stream RANK at OFFSET into INTO, like pread. Returns the number of bytes, which is less than
  // requested only at the end of the stream. RANK -1 means all streams, concatenated in rank order. A stream that is
  // read from first to last byte without gaps is verified: Code::damaged at its end if the checksum differs.
  Result<int64_t> read(int64_t rank, int64_t offset, std::span<std::byte> into);

  // Local. The number of streams: the ranks of the communicator that wrote or writes them.
  int64_t count() const;
  // Local. The length of stream RANK in bytes; -1 for all streams together. While writing, only this rank's own stream.
  Result<int64_t> bytes(int64_t rank);

  // Collective. Publishes the written data, all or nothing, and releases everything.
  Status close();

  // Local. Makes close fail with STATUS, on all ranks. For bindings that reject a call by checks of their own.
  void remember_failure(const Status& status);

  class State;  // of core/container: a writer or a reader

 private:
  explicit Stream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace penstock
