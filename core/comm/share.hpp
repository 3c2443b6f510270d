// Sharing: rank 0 tells all ranks, all ranks tell each other, and whether all say the same.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

#include "core/base/encode.hpp"
#include "core/base/guarded.hpp"

namespace penstock {

// Collective. TELL runs on rank 0 only. Every rank gets the bytes that it encodes, or its error.
Result<std::vector<std::byte>> from_rank_0(const Communicator& comm, const std::function<Status(Encoder&)>& tell);

// Collective. STEP runs on rank 0 only; every rank gets its status.
template <typename Step>
Status on_rank_0(const Communicator& comm, Step step) {
  return agree(comm, comm->rank() == 0 ? guarded(step) : Status());
}

// Collective. Every rank gets the bytes of all ranks, one after another in the order of ranks.
Result<std::vector<std::byte>> from_all_ranks(const Communicator& comm, std::span<const std::byte> own);

// Collective. Whether all ranks have the same BYTES, by their checksum.
Result<bool> same_on_all_ranks(const Communicator& comm, std::span<const std::byte> bytes);

// Collective. The same status on all ranks: where BYTES differ between ranks, that of the lowest rank whose bytes are
// not rank 0's, which DIFFER makes from rank 0's bytes.
Status agree_same(const Communicator& comm, std::span<const std::byte> bytes,
                  const std::function<Status(std::span<const std::byte> of_rank_0)>& differ);

}  // namespace penstock
