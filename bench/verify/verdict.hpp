// Verdict: what all readers found, joined at rank 0.
#pragma once

#include <vector>

#include <penstock/communicator.hpp>

#include "bench/verify/truth.hpp"

namespace penstock::bench {

// Both are collective; the result is rank 0's, and empty elsewhere.
Result<Faults> join_faults(const Communicator& comm, const Faults& own);
// OWN holds one digest for each field, of neighbouring slabs on ranks 0 to READERS - 1; on other ranks it is empty. The
// digest of all fields one after another.
Result<Digest> join_digests(const Communicator& comm, const std::vector<Digest>& own, int readers);

}  // namespace penstock::bench
