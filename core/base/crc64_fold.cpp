// Folding, after Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Intel,
// 2009), section 3: a block is multiplied by the power of x for its distance to a later block, and added there.
#include "core/base/crc64_fold.hpp"

#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace penstock {

#ifdef __x86_64__
namespace {

// Per function instead of per file, so that no other function is compiled for a processor that may not be present.
#define PENSTOCK_FOLD_128 [[gnu::target("pclmul,sse4.1")]]
#define PENSTOCK_FOLD_512 [[gnu::target("avx512f,vpclmulqdq")]]

constexpr size_t block = 16, lanes = 8, wide = 64, wide_lanes = 4;

// x^N modulo the polynomial, reflected.
constexpr uint64_t power(size_t n) {
  uint64_t v = uint64_t{1} << 63;
  for (; n > 0; --n) v = (v >> 1) ^ ((v & 1) ? crc64_polynomial : 0);
  return v;
}

// For an odd power series over GF(2), to 64 bits: each step doubles the number of correct bits.
constexpr int64_t reciprocal_of(int64_t divisor) {
  const auto low_product = [](uint64_t a, uint64_t b) {
    uint64_t product = 0;
    for (; b != 0; b >>= 1, a <<= 1) product ^= (b & 1) ? a : 0;
    return product;
  };
  const auto d = static_cast<uint64_t>(divisor);
  uint64_t r = 1;
  for (int bits = 1; bits < 64; bits *= 2) r = low_product(low_product(r, r), d);
  return static_cast<int64_t>(r);
}
static_assert(static_cast<uint64_t>(reciprocal_of(static_cast<int64_t>((crc64_polynomial << 1) | 1))) ==
              0x9C3E466C172963D5);

// The factors for moving the halves of a block by BITS; each product of reflected numbers is one bit short.
template <size_t bits>
PENSTOCK_FOLD_128 __m128i distance() {
  constexpr auto first = static_cast<int64_t>(power(bits + 63)), second = static_cast<int64_t>(power(bits - 1));
  return _mm_set_epi64x(second, first);
}

PENSTOCK_FOLD_128 inline __m128i load(const std::byte* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

PENSTOCK_FOLD_128 inline __m128i fold(__m128i sum, __m128i by, __m128i next) {
  const __m128i halves = _mm_xor_si128(_mm_clmulepi64_si128(sum, by, 0x00), _mm_clmulepi64_si128(sum, by, 0x11));
  return _mm_xor_si128(halves, next);
}

PENSTOCK_FOLD_128 Folded fold_blocks(const std::byte* p, size_t n, uint64_t state) {
  const __m128i by_one = distance<8 * block>(), by_all = distance<8 * block * lanes>();
  __m128i sum = _mm_xor_si128(load(p), _mm_set_epi64x(0, static_cast<int64_t>(state)));
  if (n >= 2 * block * lanes) {
    __m128i lane[lanes] = {sum};
    for (size_t i = 1; i < lanes; ++i) lane[i] = load(p + block * i);
    for (p += block * lanes, n -= block * lanes; n >= block * lanes; p += block * lanes, n -= block * lanes)
      for (size_t i = 0; i < lanes; ++i) lane[i] = fold(lane[i], by_all, load(p + block * i));
    sum = lane[0];
    for (size_t i = 1; i < lanes; ++i) sum = fold(sum, by_one, lane[i]);
  } else {
    p += block;
    n -= block;
  }
  for (; n > 0; p += block, n -= block) sum = fold(sum, by_one, load(p));
  Folded folded;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(folded.data()), sum);
  return folded;
}

// Folds as many bytes as possible to wide_lanes lanes at FOLDED; returns their number.
PENSTOCK_FOLD_512 size_t fold_wide(const std::byte* p, size_t n, uint64_t state, std::byte* folded) {
  constexpr size_t bits = 8 * wide * wide_lanes;
  constexpr auto first = static_cast<int64_t>(power(bits + 63)), second = static_cast<int64_t>(power(bits - 1));
  const __m512i by_all = _mm512_set4_epi64(second, first, second, first);
  __m512i lane[wide_lanes];
  for (size_t i = 0; i < wide_lanes; ++i) lane[i] = _mm512_loadu_si512(p + wide * i);
  lane[0] = _mm512_xor_si512(lane[0], _mm512_zextsi128_si512(_mm_set_epi64x(0, static_cast<int64_t>(state))));
  size_t used = wide * wide_lanes;
  for (; n - used >= wide * wide_lanes; used += wide * wide_lanes)
    for (size_t i = 0; i < wide_lanes; ++i) {
      const __m512i halves = _mm512_xor_si512(_mm512_clmulepi64_epi128(lane[i], by_all, 0x00),
                                              _mm512_clmulepi64_epi128(lane[i], by_all, 0x11));
      lane[i] = _mm512_xor_si512(halves, _mm512_loadu_si512(p + used + wide * i));
    }
  for (size_t i = 0; i < wide_lanes; ++i) _mm512_storeu_si512(folded + wide * i, lane[i]);
  return used;
}

bool can_fold_wide() {
  static const bool can = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;
  return can;
}

}  // namespace

bool can_fold() {
  static const bool can = __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
  return can;
}

Folded crc64_fold(std::span<const std::byte> bytes, uint64_t state) {
  constexpr size_t at_once = wide * wide_lanes;
  if (bytes.size() < 2 * at_once || !can_fold_wide()) return fold_blocks(bytes.data(), bytes.size(), state);
  std::byte last[2 * at_once];  // the lanes, and the remaining bytes after them
  const size_t used = fold_wide(bytes.data(), bytes.size(), state, last);
  const size_t rest = bytes.size() - used;
  std::memcpy(last + at_once, bytes.data() + used, rest);
  return fold_blocks(last, at_once + rest, 0);
}

namespace {

// Barrett's reduction, from the same paper: the quotient by the polynomial is the low half times its reciprocal.
PENSTOCK_FOLD_128 inline uint64_t reduce(__m128i product) {
  constexpr auto divisor = static_cast<int64_t>((crc64_polynomial << 1) | 1), reciprocal = reciprocal_of(divisor);
  const __m128i constants = _mm_set_epi64x(divisor, reciprocal);
  const __m128i quotient = _mm_clmulepi64_si128(product, constants, 0x00);
  const __m128i multiple = _mm_xor_si128(_mm_clmulepi64_si128(quotient, constants, 0x10), _mm_slli_si128(quotient, 8));
  return static_cast<uint64_t>(_mm_extract_epi64(_mm_xor_si128(product, multiple), 1));
}

// Products add up unreduced, so that no step waits for the one before.
template <typename Word>
PENSTOCK_FOLD_128 uint64_t fold_words(std::span<const Crc64Term> terms, const std::byte* memory) {
  __m128i sum = _mm_setzero_si128();
  for (const Crc64Term& term : terms) {
    Word word = 0;
    std::memcpy(&word, memory + term.at, sizeof word);
    sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<int64_t>(uint64_t{word})),
                                                  _mm_cvtsi64_si128(static_cast<int64_t>(term.factor)), 0x00));
  }
  return reduce(sum);
}

}  // namespace

PENSTOCK_FOLD_128 uint64_t crc64_multiply_by_folding(uint64_t a, uint64_t b) {
  return reduce(_mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<int64_t>(a)),
                                     _mm_cvtsi64_si128(static_cast<int64_t>(b)), 0x00));
}

uint64_t crc64_fold_terms(std::span<const Crc64Term> terms, const std::byte* memory, int64_t size) {
  switch (size) {
    case 1: return fold_words<uint8_t>(terms, memory);
    case 2: return fold_words<uint16_t>(terms, memory);
    case 4: return fold_words<uint32_t>(terms, memory);
    default: return fold_words<uint64_t>(terms, memory);
  }
}

#else

bool can_fold() { return false; }
uint64_t crc64_multiply_by_folding(uint64_t, uint64_t) { return 0; }
uint64_t crc64_fold_terms(std::span<const Crc64Term>, const std::byte*, int64_t) { return 0; }
Folded crc64_fold(std::span<const std::byte>, uint64_t) { return {}; }

#endif

}  // namespace penstock
