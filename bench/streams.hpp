// Streams: sequential system calls by threads of one rank, each with its own file, like fio's jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>

#include "core/storage/aligned.hpp"

namespace penstock::bench {

inline constexpr int64_t transfer_bytes = 4 << 20;

struct Stream {
  std::string path;
  int64_t bytes = 0;  // a multiple of 4096
  bool direct = false;
  void* memory = nullptr;
  int error = 0;
};

// COUNT streams to new files in FOLDER, which share BYTES evenly, rounded up to 4096, each with its own memory of
// incompressible bytes.
struct StreamSet {
  StreamSet(const std::string& folder, int64_t bytes, int count, bool direct);
  std::vector<AlignedMemory> memory;
  std::vector<Stream> streams;
  int64_t bytes = 0;  // of all
  int error() const;  // errno of the first failure; 0
};

// Preallocates; ends with fdatasync and close.
void write_stream(Stream& stream);
void read_stream(Stream& stream);
// Asks the kernel to drop the file's pages.
void drop(const Stream& stream);
// Seconds until the last stream of SET has ended.
double run_all(StreamSet& set, void (*run)(Stream&));

// Collective. Rank 0 calls WORK while the others sleep: in a barrier they would spin on cores that its threads need.
Status while_others_sleep(const Communicator& comm, const std::function<void()>& work);

}  // namespace penstock::bench
