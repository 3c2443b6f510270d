// Tiling: sums of powers over selections, by geometric series.
#include "core/model/tiling.hpp"

#include <algorithm>
#include <array>

#include "core/model/catalogue.hpp"

namespace penstock {
namespace {

constexpr uint64_t p = tiling_modulus;

uint64_t multiply(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  const uint64_t sum = static_cast<uint64_t>(product & p) + static_cast<uint64_t>(product >> 61);
  return sum >= p ? sum - p : sum;
}

uint64_t power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base = multiply(base, base))
    if (exponent & 1) result = multiply(result, base);
  return result;
}

uint64_t subtract(uint64_t a, uint64_t b) { return a >= b ? a - b : a + p - b; }

// 1 / (ratio - 1), or 0 if the ratio is 1.
uint64_t series_factor(uint64_t ratio) { return ratio == 1 ? 0 : power(subtract(ratio, 1), p - 2); }

// ratio^0 + ... + ratio^(n-1)
uint64_t series(uint64_t ratio, uint64_t factor, int64_t n) {
  if (ratio == 1) return static_cast<uint64_t>(n) % p;
  return multiply(subtract(power(ratio, static_cast<uint64_t>(n)), 1), factor);
}

// Powers of BASE with small exponents, as from one run to the next, cost one look.
class Powers {
 public:
  explicit Powers(uint64_t base) : base_(base) {
    small_[0] = 1;
    for (size_t i = 1; i < small_.size(); ++i) small_[i] = multiply(small_[i - 1], base);
  }
  uint64_t of(int64_t exponent) const {
    const auto e = static_cast<uint64_t>(exponent);
    return e < small_.size() ? small_[e] : power(base_, e);
  }

 private:
  uint64_t base_;
  std::array<uint64_t, 256> small_;
};

// Each run is a geometric series, (base^end - base^offset) / (base - 1).
uint64_t sum_runs(const Selection& selection, uint64_t base, int64_t limit) {
  if (base == 1) return static_cast<uint64_t>(selection.count_below(limit)) % p;
  const Powers powers(base);
  uint64_t sum = 0, there = 1;  // base^position
  int64_t position = 0;
  for (const MemoryRun& run : selection.runs()) {
    if (run.offset >= limit) break;
    const uint64_t first = multiply(there, powers.of(run.offset - position));
    position = std::min(run.offset + run.length, limit);
    there = multiply(first, powers.of(position - run.offset));
    sum = tiling_add(sum, subtract(there, first));
  }
  return multiply(sum, series_factor(base));
}

// Like Selection::rank_of: for each dimension the rows entirely below LIMIT, then the row that LIMIT cuts.
uint64_t sum_box(const Selection& selection, uint64_t base, int64_t limit) {
  const Dims& shape = selection.shape();
  const Box& box = selection.box();
  const int rank = shape.rank();
  const Dims step = row_major(shape);
  uint64_t ratio[max_rank], factor[max_rank], start[max_rank], inner[max_rank + 1];
  inner[rank] = 1;
  for (int d = rank - 1; d >= 0; --d) {
    ratio[d] = power(base, static_cast<uint64_t>(step[d]));
    factor[d] = series_factor(ratio[d]);
    start[d] = power(ratio[d], static_cast<uint64_t>(box.start[d]));
    inner[d] = multiply(inner[d + 1], multiply(start[d], series(ratio[d], factor[d], box.count[d])));
  }
  if (limit >= selection.last()) return inner[0];
  uint64_t sum = 0, prefix = 1;
  for (int d = 0; d < rank; ++d) {
    const int64_t digit = limit / step[d];
    limit %= step[d];
    const int64_t rows = std::clamp<int64_t>(digit - box.start[d], 0, box.count[d]);
    const uint64_t below = multiply(multiply(start[d], series(ratio[d], factor[d], rows)), inner[d + 1]);
    sum = tiling_add(sum, multiply(prefix, below));
    if (digit < box.start[d] || digit >= box.start[d] + box.count[d]) break;
    prefix = multiply(prefix, power(ratio[d], static_cast<uint64_t>(digit)));
  }
  return sum;
}

}  // namespace

uint64_t tiling_add(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum >= p ? sum - p : sum;
}

uint64_t tiling_sum(const Selection& selection, uint64_t base, int64_t limit) {
  if (selection.count() == 0 || limit <= selection.first()) return 0;
  return selection.is_box() ? sum_box(selection, base, limit) : sum_runs(selection, base, limit);
}

uint64_t tiling_sum(int64_t elements, uint64_t base, int64_t limit) {
  return series(base, series_factor(base), std::clamp<int64_t>(limit, 0, elements));
}

}  // namespace penstock
