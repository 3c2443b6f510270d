// Compare: compares two windows of the same elements by value; their types may differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/type.hpp>

namespace penstock::program {

// Two numbers are equal if |a - b| <= atol + rtol |b|, as in NumPy's allclose. Two NaN are equal unless nan_differs.
struct Tolerance {
  double rtol = 0, atol = 0;
  bool nan_differs = false;
};

// The result so far; indices are linear, -1 if there is none.
struct Differences {
  int64_t count = 0;
  int64_t first = -1;
  double largest = 0;  // |a - b|, and |a - b| / |b|, over finite differing values
  int64_t largest_at = -1;
  double largest_relative = 0;

  void add(const Differences& other);
};

// Whether values of these types can be compared: numbers with numbers, texts with texts.
bool comparable(const ElementType& a, const ElementType& b);
// COUNT elements; the first has index AT. Integers are compared exactly, for all sizes and signs.
Differences compare(const ElementType& a_type, const std::byte* a, const ElementType& b_type, const std::byte* b,
                    int64_t count, int64_t at, const Tolerance& tolerance);

}  // namespace penstock::program
