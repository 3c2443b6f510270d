// Proof: every element of every dataset was put exactly once, or the first that was not is named.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <penstock/communicator.hpp>

#include "core/model/catalogue.hpp"
#include "core/placement/placement.hpp"

namespace penstock {

// Collective. CLAIMS are this rank's; BASE is a random number that all ranks share. The first KEPT[d] elements of
// dataset d may be put any number of times (they are there already); all others exactly once. One reduction where all
// is well; else a bisection by reductions finds the first wrong element and who put it.
Status prove_tiling(const Communicator& comm, const Catalogue& catalogue, std::span<const Claim> claims,
                    std::span<const int64_t> kept, uint64_t base);

// Collective, the same on all ranks. Of each dataset, whether prove_tiling would find it well.
Result<std::vector<bool>> find_tiled(const Communicator& comm, const Catalogue& catalogue,
                                     std::span<const Claim> claims, std::span<const int64_t> kept, uint64_t base);

}  // namespace penstock
