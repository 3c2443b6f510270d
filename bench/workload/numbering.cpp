// Numbering: two rounds of add, multiply and xor-shift, each invertible.
#include "bench/workload/numbering.hpp"

#include <cstring>

#include "bench/workload/scramble.hpp"

namespace penstock::bench {

namespace {

constexpr auto& odd = scramble_odd;

// x with odd * x == 1 modulo 2^64, hence modulo any lower power: Newton's iteration doubles the number of correct bits.
constexpr uint64_t inverse(uint64_t value) {
  uint64_t x = value;
  for (int i = 0; i < 6; ++i) x *= 2 - value * x;
  return x;
}

template <int bits>
struct Mix {
  static constexpr uint64_t mask = (uint64_t{1} << bits) - 1;
  static constexpr int shift = (bits + 1) / 2;  // so that the xor-shift is its own inverse

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

// Converts mixed bits to a word, and back if they can be a value.
struct Wide {
  static constexpr int bits = 52;
  using Word = uint64_t;
  static Word form(uint64_t mixed) { return mixed | (uint64_t{1023} << 52); }
  static std::optional<uint64_t> mixed(Word word) {
    if (word >> 52 != 1023) return std::nullopt;
    return word & Mix<52>::mask;
  }
};

// Exponents 64 to 191: far from zero, subnormals, infinities and NaNs.
struct Narrow {
  static constexpr int bits = 31;
  using Word = uint32_t;
  static Word form(uint64_t mixed) {
    const auto m = static_cast<uint32_t>(mixed);
    return ((m >> 30) << 31) | (((m >> 23 & 127) + 64) << 23) | (m & 0x7fffff);
  }
  static std::optional<uint64_t> mixed(Word word) {
    const uint32_t exponent = word >> 23 & 255;
    if (exponent < 64 || exponent > 191) return std::nullopt;
    return uint64_t{word >> 31} << 30 | uint64_t{exponent - 64} << 23 | (word & 0x7fffff);
  }
};

template <typename Unsigned, int width>
struct Odd {
  static constexpr int bits = width;
  using Word = Unsigned;
  static Word form(uint64_t mixed) { return static_cast<Word>(mixed << 1 | 1); }
  static std::optional<uint64_t> mixed(Word word) {
    if (word % 2 == 0 || word >> 1 > Mix<bits>::mask) return std::nullopt;
    return word >> 1;
  }
};

// Calls USE with the form of the words.
template <typename Use>
auto with_form(bool real, int word_bytes, Use use) {
  if (real) return word_bytes == 8 ? use(Wide()) : use(Narrow());
  switch (word_bytes) {
    case 1: return use(Odd<uint8_t, 7>());
    case 2: return use(Odd<uint16_t, 15>());
    case 4: return use(Odd<uint32_t, 31>());
    default: return use(Odd<uint64_t, 52>());
  }
}

}  // namespace

Numbering::Numbering(Kind kind, uint64_t seed, int repetition) {
  words_ = kind == Kind::complex64 || kind == Kind::complex128 ? 2 : 1;
  real_ = words_ == 2 || kind == Kind::f32 || kind == Kind::f64;
  word_bytes_ = static_cast<int>(bytes(ElementType{kind})) / words_;
  bits_ = with_form(real_, word_bytes_, [](auto form) { return decltype(form)::bits; });
  key_[0] = scramble(scramble(seed) + static_cast<uint64_t>(repetition));
  key_[1] = scramble(key_[0]);
}

void Numbering::fill(int64_t number, std::span<std::byte> out) const {
  with_form(real_, word_bytes_, [&](auto form) {
    using Form = decltype(form);
    using Word = typename Form::Word;
    std::byte* p = out.data();
    const auto first = static_cast<uint64_t>(number * words_), count = out.size() / sizeof(Word);
    for (uint64_t n = first; n < first + count; ++n, p += sizeof(Word)) {
      const uint64_t high = n >> Form::bits;  // beyond those bits the key changes with it: a hash
      const uint64_t key[2] = {high == 0 ? key_[0] : scramble(key_[0] + high), key_[1]};
      const Word word = Form::form(Mix<Form::bits>::apply(n & Mix<Form::bits>::mask, key));
      std::memcpy(p, &word, sizeof word);
    }
    return 0;
  });
}

std::optional<int64_t> Numbering::word_number(const std::byte* element) const {
  return with_form(real_, word_bytes_, [&](auto form) -> std::optional<int64_t> {
    using Form = decltype(form);
    typename Form::Word word;
    std::memcpy(&word, element, sizeof word);
    const auto mixed = Form::mixed(word);
    if (!mixed) return std::nullopt;
    return static_cast<int64_t>(Mix<Form::bits>::undo(*mixed, key_));
  });
}

std::optional<int64_t> Numbering::number(const std::byte* element) const {
  const auto first = word_number(element);
  if (words_ == 1 || !first) return first;
  const auto second = word_number(element + word_bytes_);
  if (*first % 2 != 0 || second != *first + 1) return std::nullopt;
  return *first / 2;
}

}  // namespace penstock::bench
