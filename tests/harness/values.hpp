// Values: every element of every dataset is a function of a seed and its own index, so that any reader knows it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/type.hpp>

namespace penstock::test {

// Steele, Lea and Flood's SplitMix64: well mixed from any two numbers.
inline uint64_t mix(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u + (index + 1) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// COUNT elements from INDEX on to OUT, in this machine's byte order. Numbers are finite, texts printable, then NULs.
void make_elements(std::byte* out, const ElementType& type, uint64_t seed, int64_t index, int64_t count);
inline void make_element(std::byte* out, const ElementType& type, uint64_t seed, int64_t index) {
  make_elements(out, type, seed, index, 1);
}

}  // namespace penstock::test
