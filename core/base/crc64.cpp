// CRC-64/XZ by folding, or by slicing over 16 bytes on processors without carry-less multiplication; combination by
// multiplication with a power of x (like zlib's crc32_combine since 1.2.12).
#include "core/base/crc64.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "core/base/crc64_fold.hpp"

namespace penstock {
namespace {

constexpr uint64_t polynomial = crc64_polynomial;
constexpr int slices = 16;
using Tables = std::array<std::array<uint64_t, 256>, slices>;

constexpr Tables make_tables() {
  Tables t{};
  for (uint64_t i = 0; i < 256; ++i) {
    uint64_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) ? polynomial : 0);
    t[0][i] = c;
  }
  for (size_t s = 1; s < slices; ++s)
    for (size_t i = 0; i < 256; ++i) t[s][i] = t[0][t[s - 1][i] & 0xFF] ^ (t[s - 1][i] >> 8);
  return t;
}

const Tables& tables() {
  static const Tables t = make_tables();
  return t;
}

uint64_t load_little(const std::byte* p) {
  uint64_t v = 0;
  std::memcpy(&v, p, sizeof v);
  if constexpr (std::endian::native == std::endian::big) v = __builtin_bswap64(v);
  return v;
}

// Polynomials modulo the CRC polynomial, reflected: the highest bit is the coefficient of x^0.
constexpr uint64_t one = uint64_t{1} << 63;

constexpr uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  for (; a != 0; a <<= 1) {
    if (a & one) product ^= b;
    b = (b >> 1) ^ ((b & 1) ? polynomial : 0);
  }
  return product;
}

// x^8, its square, the square of that, ...: the factors for one, two, four, ... zero bytes.
constexpr std::array<uint64_t, 64> make_zero_bytes() {
  std::array<uint64_t, 64> powers{one >> 8};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = multiply(powers[i - 1], powers[i - 1]);
  return powers;
}
constexpr std::array<uint64_t, 64> zero_bytes = make_zero_bytes();

// x^-1: undoes one step of division.
constexpr uint64_t inverse_of_x = (polynomial << 1) | 1;
static_assert(multiply(inverse_of_x, one >> 1) == one);

// Same as zero_bytes, for multiply_by_folding, whose product has an additional factor x.
constexpr std::array<uint64_t, 64> make_folded_zero_bytes() {
  std::array<uint64_t, 64> powers{};
  for (size_t i = 0; i < powers.size(); ++i) powers[i] = multiply(zero_bytes[i], inverse_of_x);
  return powers;
}
constexpr std::array<uint64_t, 64> folded_zero_bytes = make_folded_zero_bytes();

constexpr size_t min_folded = 64;  // below, the table is equally fast

uint64_t linear_by_table(std::span<const std::byte> bytes, uint64_t c) {
  const Tables& t = tables();
  const std::byte* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= slices; n -= slices, p += slices) {
    const uint64_t a = load_little(p) ^ c;
    const uint64_t b = load_little(p + 8);
    c = 0;
    for (size_t i = 0; i < 8; ++i) c ^= t[15 - i][(a >> (8 * i)) & 0xFF] ^ t[7 - i][(b >> (8 * i)) & 0xFF];
  }
  if (n >= 8) {
    const uint64_t a = load_little(p) ^ c;
    c = 0;
    for (size_t i = 0; i < 8; ++i) c ^= t[7 - i][(a >> (8 * i)) & 0xFF];
    n -= 8;
    p += 8;
  }
  for (; n > 0; --n, ++p) c = t[0][(c ^ static_cast<uint64_t>(*p)) & 0xFF] ^ (c >> 8);
  return c;
}

}  // namespace

uint64_t crc64_by_table(std::span<const std::byte> bytes, uint64_t previous) {
  return ~linear_by_table(bytes, ~previous);
}

uint64_t crc64_linear(std::span<const std::byte> bytes, uint64_t previous) {
  const size_t multiple = bytes.size() / sizeof(Folded) * sizeof(Folded);
  if (multiple < min_folded || !can_fold()) return linear_by_table(bytes, previous);
  const Folded folded = crc64_fold(bytes.first(multiple), previous);
  return linear_by_table(bytes.subspan(multiple), linear_by_table(folded, 0));
}

uint64_t crc64(std::span<const std::byte> bytes, uint64_t previous) { return ~crc64_linear(bytes, ~previous); }

uint64_t crc64_combine(uint64_t a, uint64_t b, int64_t b_bytes) {
  return b_bytes > 0 ? Crc64Zeros(b_bytes).after(a) ^ b : a;
}

uint64_t crc64_from_linear(uint64_t linear, int64_t bytes) { return linear ^ ~Crc64Zeros(bytes).after(~uint64_t{0}); }

Crc64Zeros::Crc64Zeros(int64_t bytes) : bytes_(bytes), factor_(one) {
  auto n = static_cast<uint64_t>(bytes);
  if (!can_fold()) {
    for (size_t i = 0; n != 0; n >>= 1, ++i)
      if (n & 1) factor_ = multiply(zero_bytes[i], factor_);
    return;
  }
  factor_ = inverse_of_x;
  for (size_t i = 0; n != 0; n >>= 1, ++i)
    if (n & 1) factor_ = crc64_multiply_by_folding(factor_, folded_zero_bytes[i]);
}

uint64_t crc64_of_terms(std::span<const Crc64Term> terms, const std::byte* memory, int64_t size) {
  if (can_fold()) return crc64_fold_terms(terms, memory, size);
  uint64_t sum = 0;
  for (const Crc64Term& term : terms) {
    std::byte value[sizeof(uint64_t)] = {};
    std::memcpy(value, memory + term.at, static_cast<size_t>(size));
    sum ^= multiply(load_little(value), term.factor);
  }
  return sum;
}

uint64_t Crc64Zeros::after(uint64_t linear) const {
  return can_fold() ? crc64_multiply_by_folding(linear, factor_) : multiply(linear, factor_);
}

}  // namespace penstock
