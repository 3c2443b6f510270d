// Store: real values as elements of any type.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "core/model/kinds.hpp"

namespace penstock::bench {

inline constexpr int64_t store_block = 1024;  // elements evaluated at once

// Integers hold values from -4 to 4 in their whole range, with at most 53 bits.
template <typename Integer>
Integer scaled(double value) {
  constexpr int bits = std::min(std::numeric_limits<Integer>::digits + (std::is_signed_v<Integer> ? 1 : 0), 53);
  constexpr auto half = static_cast<double>(int64_t{1} << (bits - 1));
  const double place = std::clamp(std::floor(value / 4 * half), -half, half - 1);
  return static_cast<Integer>(std::is_signed_v<Integer> ? place : place + half);
}

// Fills OUT with elements of KIND from OFFSET on. VALUES(part, offset, doubles) is asked for each stretch of at most
// store_block of them; PART is 1 for imaginary parts.
template <typename Evaluate>
void store(Kind kind, int64_t offset, std::span<std::byte> out, Evaluate values) {
  with_number(kind, [&]<typename T>(T) {
    double block[2][store_block];
    while (!out.empty()) {
      const auto count = std::min<size_t>(store_block, out.size() / sizeof(T));
      values(0, offset, std::span(block[0]).first(count));
      if constexpr (is_complex_type<T>) values(1, offset, std::span(block[1]).first(count));
      for (size_t i = 0; i < count; ++i) {
        T element;
        if constexpr (is_complex_type<T>) {
          using Real = typename T::value_type;
          element = T(static_cast<Real>(block[0][i]), static_cast<Real>(block[1][i]));
        } else if constexpr (std::is_integral_v<T>) {
          element = scaled<T>(block[0][i]);
        } else {
          element = static_cast<T>(block[0][i]);
        }
        std::memcpy(out.data() + i * sizeof(T), &element, sizeof(T));
      }
      offset += static_cast<int64_t>(count);
      out = out.subspan(count * sizeof(T));
    }
    return 0;
  });
}

}  // namespace penstock::bench
