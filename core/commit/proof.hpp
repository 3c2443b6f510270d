// Proof: verifies that every element of every dataset was put exactly once, or names the first violation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <penstock/communicator.hpp>

#include "core/model/catalogue.hpp"
#include "core/placement/placement.hpp"

namespace penstock {

// What is put exactly once of each dataset, of which the first KEPT[d] elements exist already.
struct Tiling {
  std::vector<bool> whole;   // every element
  std::vector<bool> beyond;  // every element that does not exist yet
};

// Collective, the same on all ranks: one reduction. CLAIMS belong to this rank; BASE is a random number common to all
// ranks. In the same message, BITS become the exclusive or of all ranks' bits.
Result<Tiling> find_tiling(const Communicator& comm, const Catalogue& catalogue, std::span<const Claim> claims,
                           std::span<const int64_t> kept, uint64_t base, std::span<uint64_t> bits);

// Collective, with TILING from find_tiling of the same arguments. An error if some dataset is not put exactly once
// beyond what is kept: a bisection by reductions finds the first wrong element and the ranks that put it.
Status check_tiling(const Communicator& comm, const Catalogue& catalogue, std::span<const Claim> claims,
                    std::span<const int64_t> kept, uint64_t base, const Tiling& tiling);

}  // namespace penstock
