// Ceiling: what the device gives to plain sequential system calls, measured in the same run as the methods.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>

namespace penstock::bench {

// One way of streaming: THREADS of rank 0, each with a file of its own, in transfers of `transfer_bytes`. Writes are
// preallocated and end with fdatasync and close; reads begin with a dropped page cache. As fio's sequential jobs.
struct CeilingRow {
  std::string io;  // "direct" or "buffered"
  int streams = 1;
  std::vector<double> write_rates, read_rates;  // MiB/s, one for each try
  std::string error;                            // why there are none
};

struct Ceiling {
  int64_t bytes = 0;  // of each try, over all streams
  int64_t transfer_bytes = 0;
  std::vector<CeilingRow> rows;
  double best_write = 0, best_read = 0;  // MiB/s; 0 where nothing could be measured
};

struct CeilingRequest {
  std::string folder;       // an existing one; its files are removed again
  int64_t total_bytes = 0;  // of the workload; a try moves that much, within [32 MiB, 512 MiB]
  double seconds = 30;      // no further try is started after so long
};

// Collective: rank 0 measures while the others sleep. The result is rank 0's; elsewhere it is empty.
Result<Ceiling> measure_ceiling(const Communicator& comm, const CeilingRequest& request);
// Bytes of the file system that measuring needs for a while.
int64_t ceiling_bytes(int64_t total_bytes);

}  // namespace penstock::bench
