// Ceiling: the device's rate with plain sequential system calls, measured in the same run as the methods.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>

namespace penstock::bench {

// One streaming configuration: THREADS of rank 0, each with its own file, in transfers of `transfer_bytes`. Writes are
// preallocated and end with fdatasync and close; reads start with a dropped page cache. Like fio's sequential jobs.
struct CeilingRow {
  std::string io;  // "direct" or "buffered"
  int streams = 1;
  std::vector<double> write_rates, read_rates;  // MiB/s, one per try
  std::string error;                            // why there are none
};

struct Ceiling {
  int64_t bytes = 0;  // per try, over all streams
  int64_t transfer_bytes = 0;
  std::vector<CeilingRow> rows;
  double best_write = 0, best_read = 0;  // MiB/s; 0 if not measured
};

struct CeilingRequest {
  std::string folder;       // existing; its new files are removed again
  int64_t total_bytes = 0;  // of the workload; a try moves as much, within [32 MiB, 512 MiB]
  double seconds = 30;      // no further try starts after this time
};

// Collective: rank 0 measures while the others sleep. Only rank 0 gets the result.
Result<Ceiling> measure_ceiling(const Communicator& comm, const CeilingRequest& request);
// Bytes of the file system that the measurement needs temporarily.
int64_t ceiling_bytes(int64_t total_bytes);

}  // namespace penstock::bench
