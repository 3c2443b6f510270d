// Numbers: from the kinds of elements to the C++ types of their values.
#pragma once

#include <complex>
#include <cstdint>

#include <penstock/type.hpp>

namespace penstock {

template <typename T>
inline constexpr bool is_complex = false;
template <typename T>
inline constexpr bool is_complex<std::complex<T>> = true;

// Calls THEN with a value of the C++ type of KIND, and returns its result; for a text an empty result.
template <typename Then>
auto with_number(Kind kind, Then then) {
  switch (kind) {
    case Kind::i8: return then(int8_t{});
    case Kind::i16: return then(int16_t{});
    case Kind::i32: return then(int32_t{});
    case Kind::i64: return then(int64_t{});
    case Kind::u8: return then(uint8_t{});
    case Kind::u16: return then(uint16_t{});
    case Kind::u32: return then(uint32_t{});
    case Kind::u64: return then(uint64_t{});
    case Kind::f32: return then(float{});
    case Kind::f64: return then(double{});
    case Kind::complex64: return then(std::complex<float>{});
    case Kind::complex128: return then(std::complex<double>{});
    case Kind::text: break;
  }
  return decltype(then(int8_t{}))();
}

}  // namespace penstock
