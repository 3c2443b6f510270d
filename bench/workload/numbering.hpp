// Numbering: element values that encode the element's number, the seed and the repetition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <penstock/type.hpp>

namespace penstock::bench {

// A keyed bijection of numbers, stored in the bits of a value that is never zero, infinite or NaN:
//   f64: 52 bits, in [1, 2): no two elements below 2^52 share a value.
//   f32: 31 bits (sign, 7 of the exponent, 23): no two elements below 2^31 share one; above, values are a 31-bit hash.
//   integers: odd values; 52 bits of 64-bit types, else all but the lowest bit: 31, 15 or 7; above, a hash.
//   complex: two reals, of the numbers 2 n and 2 n + 1.
// The key depends on seed and repetition, so zeroed, misplaced and stale data all differ.
class Numbering {
 public:
  // REQUIRES: KIND is not text.
  Numbering(Kind kind, uint64_t seed, int repetition);

  int bits() const { return bits_ - (words_ == 2 ? 1 : 0); }
  bool injective(int64_t elements) const { return elements <= (int64_t{1} << bits()); }
  // The elements NUMBER, NUMBER + 1, ... up to the end of OUT, in native byte order.
  void fill(int64_t number, std::span<std::byte> out) const;
  // The number of the value at ELEMENT, if the values are injective; nothing if it is not a valid value.
  std::optional<int64_t> number(const std::byte* element) const;

 private:
  std::optional<int64_t> word_number(const std::byte* word) const;

  bool real_;
  int word_bytes_, words_;  // of an element
  int bits_;                // of a word
  uint64_t key_[2];
};

}  // namespace penstock::bench
