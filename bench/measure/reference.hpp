// Reference: the time of plain system calls by rank 0 for the bytes of a workload, as an additional method.
//
// "reference/device:streams=N": N direct streams to separate files, preallocated, with fdatasync; the data is
// arbitrary. "reference/pwrite": rank 0 has all data already and writes it to one new file, with fsync.
#pragma once

#include <string>
#include <string_view>

#include <penstock/communicator.hpp>

#include "bench/measure/timed.hpp"
#include "bench/verify/truth.hpp"

namespace penstock::bench {

struct Reference {
  int streams = 0;  // 0: pwrite
};

bool is_reference(std::string_view label);
// Local. REQUIRES: is_reference(LABEL).
Result<Reference> parse_reference(std::string_view label);

// Collective. Writes as many bytes as TRUTH's workload has to PATH, or to files in its folder. The result of pwrite is
// read back and checked, untimed. Only rank 0 is timed; the others sleep.
Result<Timing> timed_reference(const Communicator& comm, const Reference& reference, const std::string& path,
                               const Truth& truth);

}  // namespace penstock::bench
