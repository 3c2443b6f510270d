// Kinds: the C++ type of each kind of number, and the parts of complex ones.
#pragma once

#include <complex>
#include <cstdint>

#include <penstock/type.hpp>

namespace penstock {

template <typename T>
inline constexpr bool is_complex_type = false;
template <typename T>
inline constexpr bool is_complex_type<std::complex<T>> = true;

// Calls THEN with a value of the C++ type of KIND, and returns its result; a default one for a text.
template <typename Then>
auto with_number(Kind kind, Then then) -> decltype(then(int8_t{})) {
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
  return {};
}

inline bool is_complex(const ElementType& type) {
  return type.kind == Kind::complex64 || type.kind == Kind::complex128;
}
// The type of the two parts of a complex number; TYPE itself for others.
inline ElementType part_of(const ElementType& type) {
  if (type.kind == Kind::complex64) return {Kind::f32};
  return type.kind == Kind::complex128 ? ElementType{Kind::f64} : type;
}

}  // namespace penstock
