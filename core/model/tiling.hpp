// Tiling: proves that every element of a dataset was put exactly once.
#pragma once

#include <cstdint>

#include "core/model/selection.hpp"

namespace penstock {

// Arithmetic modulo the Mersenne prime 2^61 - 1. Each selection sums base^offset over its elements in O(rank log n) or
// O(runs log n). For a random base the sums of all ranks add up to that of the whole dataset only if the elements tile
// it (a polynomial identity: Schwartz-Zippel; the probability of error is below elements / 2^61).
inline constexpr uint64_t tiling_modulus = (uint64_t{1} << 61) - 1;

uint64_t tiling_add(uint64_t a, uint64_t b);
// The sum of base^offset over the selected elements whose offset is below LIMIT.
uint64_t tiling_sum(const Selection& selection, uint64_t base, int64_t limit = INT64_MAX);
// Same over all elements below LIMIT of a dataset of ELEMENTS.
uint64_t tiling_sum(int64_t elements, uint64_t base, int64_t limit = INT64_MAX);

}  // namespace penstock
