// Verdict: the findings of all readers, combined at rank 0.
#pragma once

#include <vector>

#include <penstock/communicator.hpp>

#include "bench/verify/truth.hpp"

namespace penstock::bench {

// Both are collective; only rank 0 gets the result.
Result<Faults> join_faults(const Communicator& comm, const Faults& own);
// The digest of all fields one after another. OWN holds one digest per field, of adjacent slabs on ranks 0 to READERS -
// 1; on other ranks it is empty.
Result<Digest> join_digests(const Communicator& comm, const std::vector<Digest>& own, int readers);

}  // namespace penstock::bench
