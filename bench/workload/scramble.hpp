// Scramble: a bijection of 64-bit numbers that looks random (splitmix64).
#pragma once

#include <cstdint>

namespace penstock::bench {

inline constexpr uint64_t scramble_odd[2] = {0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu};

inline uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * scramble_odd[0];
  x = (x ^ (x >> 27)) * scramble_odd[1];
  return x ^ (x >> 31);
}

// In [0, 1), with 53 bits.
inline double fraction(uint64_t scrambled) { return static_cast<double>(scrambled >> 11) * 0x1p-53; }

}  // namespace penstock::bench
