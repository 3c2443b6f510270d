// Numbering: two rounds of add, multiply and xor-shift, each of which can be undone.
#include "bench/workload/numbering.hpp"

#include <cstring>

namespace penstock::bench {

namespace {

constexpr uint64_t odd[2] = {0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu};

uint64_t scramble(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * odd[0];
  x = (x ^ (x >> 27)) * odd[1];
  return x ^ (x >> 31);
}

// x with odd * x == 1 modulo 2^64, hence modulo any lower power: Newton's iteration doubles the right bits.
constexpr uint64_t inverse(uint64_t value) {
  uint64_t x = value;
  for (int i = 0; i < 6; ++i) x *= 2 - value * x;
  return x;
}

template <int bits>
struct Mix {
  static constexpr uint64_t mask = (uint64_t{1} << bits) - 1;
  static constexpr int shift = (bits + 1) / 2;  // so that the xor-shift undoes itself

  static uint64_t apply(uint64_t x, const uint64_t* key) {
    for (int round = 0; round < 2; ++round) {
      x = ((x + key[round]) * odd[round]) & mask;
      x ^= x >> shift;
    }
    return x;
  }
  static uint64_t undo(uint64_t x, const uint64_t* key) {
    for (int round = 1; round >= 0; --round) {
      x ^= x >> shift;
      x = (x * inverse(odd[round]) - key[round]) & mask;
    }
    return x;
  }
};

uint64_t wide_bits(uint64_t mixed) { return mixed | (uint64_t{1023} << 52); }

// Exponents 64 to 191: far from zero, subnormals, infinities and NaNs.
uint32_t narrow_bits(uint64_t mixed) {
  const auto m = static_cast<uint32_t>(mixed);
  return ((m >> 30) << 31) | (((m >> 23 & 127) + 64) << 23) | (m & 0x7fffff);
}

}  // namespace

Numbering::Numbering(Kind kind, uint64_t seed, int repetition) : wide_(kind == Kind::f64) {
  key_[0] = scramble(scramble(seed) + static_cast<uint64_t>(repetition));
  key_[1] = scramble(key_[0]);
}

void Numbering::fill(int64_t number, std::span<std::byte> out) const {
  std::byte* p = out.data();
  const int64_t count = static_cast<int64_t>(out.size()) / element_bytes();
  if (wide_) {
    for (int64_t i = 0; i < count; ++i, p += 8) {
      const uint64_t bits = wide_bits(Mix<52>::apply(static_cast<uint64_t>(number + i), key_));
      std::memcpy(p, &bits, 8);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i, p += 4) {
    const auto n = static_cast<uint64_t>(number + i);
    const uint64_t high = n >> 31;  // beyond 31 bits the key changes with it: a hash
    const uint64_t key[2] = {high == 0 ? key_[0] : scramble(key_[0] + high), key_[1]};
    const uint32_t bits = narrow_bits(Mix<31>::apply(n & Mix<31>::mask, key));
    std::memcpy(p, &bits, 4);
  }
}

std::optional<int64_t> Numbering::number(const std::byte* element) const {
  if (wide_) {
    uint64_t bits;
    std::memcpy(&bits, element, 8);
    if (bits >> 52 != 1023) return std::nullopt;
    return static_cast<int64_t>(Mix<52>::undo(bits & Mix<52>::mask, key_));
  }
  uint32_t bits;
  std::memcpy(&bits, element, 4);
  const uint32_t exponent = bits >> 23 & 255;
  if (exponent < 64 || exponent > 191) return std::nullopt;
  const uint64_t mixed = uint64_t{bits >> 31} << 30 | uint64_t{exponent - 64} << 23 | (bits & 0x7fffff);
  return static_cast<int64_t>(Mix<31>::undo(mixed, key_));
}

}  // namespace penstock::bench
