// Stream: opaque bytes, one stream for each rank, in a few files for all; writing and reading are local.
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

// Threads: a Stream may be used by one thread at a time; no other thread is started.
class Stream {
 public:
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();  // of one being written: drops it; local, for all ranks or none

  // Collective. A container with one stream for each rank of COMM, to write. Under PATH there is nothing, or the old
  // file, until close. OPTIONS: "files=4,chunk_bytes=4MiB", any of
  //   files=N | node     in how many files the streams lie, ranks in contiguous groups; node: as many as there are nodes
  //   chunk_bytes=1MiB   what a rank gets at a time, rounded up to the file system's block: ranks share none
  //   buffer_bytes=1MiB  memory in which small writes are collected
  //   io=buffered|direct
  //   durability=full|none: none leaves out the syncs and nothing else
  static Result<Stream> create(const Communicator& comm, std::string path, std::string_view options = {});
  // Collective, to read, on any number of ranks.
  static Result<Stream> open(const Communicator& comm, std::string path);

  // Local, no communication. Appends to this rank's stream, any number of times, any number of bytes. A write that
  // fails makes close fail with its error on all ranks.
  Status write(std::span<const std::byte> bytes);

  // Local. Bytes of stream RANK from OFFSET on into INTO, as pread: the result is how many, fewer than wanted only at
  // the end of the stream. RANK -1: all streams, one after another in the order of ranks. A stream that is read from
  // its first byte to its last without a gap is verified: Code::damaged at its end where its checksum is another.
  Result<int64_t> read(int64_t rank, int64_t offset, std::span<std::byte> into);

  // Local. How many streams there are: ranks of the communicator that wrote or writes them.
  int64_t count() const;
  // Local. The length of stream RANK, -1 for all together; while writing, of this rank's own stream only.
  Result<int64_t> bytes(int64_t rank);

  // Collective. Publishes what was written, all or nothing, and releases everything.
  Status close();

  // Local. Makes close fail with STATUS, on all ranks: for bindings, whose own checks refuse a call before it gets here.
  void remember_failure(const Status& status);

  class State;  // of core/container: a writer or a reader

 private:
  explicit Stream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace penstock
