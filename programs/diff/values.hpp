// Values: elements of any type as numbers, or as texts.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include <penstock/type.hpp>

namespace penstock::program {

static_assert(std::numeric_limits<long double>::digits >= 64, "64-bit integers would be rounded");

template <typename T>
long double number(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<long double>(value);
}

// Every number of every type fits a long double with 64 bits of precision.
struct Value {
  long double real = 0, imaginary = 0;
};

inline Value load(Kind kind, const std::byte* at) {
  switch (kind) {
    case Kind::i8: return {number<int8_t>(at)};
    case Kind::u8: return {number<uint8_t>(at)};
    case Kind::i16: return {number<int16_t>(at)};
    case Kind::u16: return {number<uint16_t>(at)};
    case Kind::i32: return {number<int32_t>(at)};
    case Kind::u32: return {number<uint32_t>(at)};
    case Kind::i64: return {number<int64_t>(at)};
    case Kind::u64: return {number<uint64_t>(at)};
    case Kind::f32: return {number<float>(at)};
    case Kind::f64: return {number<double>(at)};
    case Kind::complex64: return {number<float>(at), number<float>(at + 4)};
    case Kind::complex128: return {number<double>(at), number<double>(at + 8)};
    case Kind::text: break;
  }
  return {};
}

inline long double magnitude(const Value& value) {
  return value.imaginary == 0 ? std::fabs(value.real) : std::hypot(value.real, value.imaginary);
}

inline bool has_nan(const Value& value) { return std::isnan(value.real) || std::isnan(value.imaginary); }

// Without padding.
inline std::string_view text_at(const std::byte* at, int64_t most) {
  const auto* text = reinterpret_cast<const char*>(at);
  return {text, ::strnlen(text, static_cast<size_t>(most))};
}

}  // namespace penstock::program
