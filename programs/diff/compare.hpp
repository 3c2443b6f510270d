// Compare: two windows of the same elements, which may be of different types, by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/type.hpp>

namespace penstock::program {

// Two numbers are the same where |a - b| <= atol + rtol |b|, as NumPy's allclose has it; two NaN are, unless
// nan_differs.
struct Tolerance {
  double rtol = 0, atol = 0;
  bool nan_differs = false;
};

// What was found so far; indices are linear, -1 where there is none.
struct Differences {
  int64_t count = 0;
  int64_t first = -1;
  double largest = 0;  // |a - b|, and |a - b| / |b|, of those that differ and are finite
  int64_t largest_at = -1;
  double largest_relative = 0;

  void add(const Differences& other);
};

// Whether values of these can be compared: numbers with numbers, texts with texts.
bool comparable(const ElementType& a, const ElementType& b);
// COUNT elements, the first of which has index AT. Integers are compared exactly, whatever their sizes and signs.
Differences compare(const ElementType& a_type, const std::byte* a, const ElementType& b_type, const std::byte* b,
                    int64_t count, int64_t at, const Tolerance& tolerance);

}  // namespace penstock::program
