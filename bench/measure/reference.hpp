// Reference: what plain system calls of rank 0 take for the bytes of a workload, as a method beside the others.
//
// "reference/device:streams=N": N direct streams to files of their own, preallocated, with their fdatasync; the bytes
// are of the bench's own. "reference/pwrite": rank 0 has all the data already, and writes it to one new file, with
// fsync.
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

// Collective. Writes as much as TRUTH's workload has to PATH, or to files in its folder; what pwrite wrote is read back
// and checked, outside of the clock. Only rank 0 takes time; the others sleep.
Result<Timing> timed_reference(const Communicator& comm, const Reference& reference, const std::string& path,
                               const Truth& truth);

}  // namespace penstock::bench
