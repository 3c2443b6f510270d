// Proof: verifies that every element of every dataset was put exactly once, or names the first violation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <penstock/communicator.hpp>

#include "core/model/catalogue.hpp"
#include "core/placement/placement.hpp"

namespace penstock {

// Collective. CLAIMS belong to this rank; BASE is a random number common to all ranks. The first KEPT[d] elements of
// dataset d exist already and may be put any number of times; all others exactly once. One reduction if all is correct;
// else a bisection by reductions finds the first wrong element and the ranks that put it.
Status prove_tiling(const Communicator& comm, const Catalogue& catalogue, std::span<const Claim> claims,
                    std::span<const int64_t> kept, uint64_t base);

// Collective, the same on all ranks. For each dataset, whether prove_tiling would accept it.
Result<std::vector<bool>> find_tiled(const Communicator& comm, const Catalogue& catalogue,
                                     std::span<const Claim> claims, std::span<const int64_t> kept, uint64_t base);

}  // namespace penstock
