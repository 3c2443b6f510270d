// Verdict: gathered, and combined in the order of fields and readers.
#include "bench/verify/verdict.hpp"

#include <cstring>

namespace penstock::bench {

Result<Faults> join_faults(const Communicator& comm, const Faults& own) {
  PENSTOCK_ASSIGN(const auto all, comm->gather(std::as_bytes(std::span(&own, 1)), 0));
  Faults joined;
  for (const auto& packed : all) {
    Faults one;
    std::memcpy(&one, packed.data(), sizeof one);
    merge(joined, one);
  }
  return joined;
}

Result<Digest> join_digests(const Communicator& comm, const std::vector<Digest>& own, int readers) {
  PENSTOCK_ASSIGN(const auto all, comm->gather(std::as_bytes(std::span(own)), 0));
  Digest joined;
  if (all.empty()) return joined;
  for (size_t field = 0; field < own.size(); ++field)
    for (int reader = 0; reader < readers; ++reader) {
      Digest one;
      std::memcpy(&one, all[static_cast<size_t>(reader)].data() + field * sizeof one, sizeof one);
      joined.append(one);
    }
  return joined;
}

}  // namespace penstock::bench
