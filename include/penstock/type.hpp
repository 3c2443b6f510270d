// ElementType: the type of one element of a dataset or attribute.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/status.hpp>

namespace penstock {

// The numeric values are those of penstock_type in penstock.h; no file contains them.
enum class Kind : uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, complex64, complex128, text };
inline constexpr int kind_count = 13;

struct ElementType {
  Kind kind = Kind::f64;
  int64_t text_bytes = 0;  // fixed length of a text, NUL-padded; 0 for every other kind

  friend bool operator==(const ElementType&, const ElementType&) = default;
};

int64_t bytes(const ElementType& type);
// Size in bytes of the unit that a byte swap reverses: 8 for complex128, 1 for text.
int64_t scalar_bytes(const ElementType& type);
// "f64", "complex128", "text[16]"; parse_type() reads the same words.
std::string name(const ElementType& type);
Result<ElementType> parse_type(std::string_view word);

// The ElementType of a C++ type: fixed-width integers, float, double and std::complex of these.
template <typename T>
ElementType type_of();
template <> ElementType type_of<int8_t>();
template <> ElementType type_of<int16_t>();
template <> ElementType type_of<int32_t>();
template <> ElementType type_of<int64_t>();
template <> ElementType type_of<uint8_t>();
template <> ElementType type_of<uint16_t>();
template <> ElementType type_of<uint32_t>();
template <> ElementType type_of<uint64_t>();
template <> ElementType type_of<float>();
template <> ElementType type_of<double>();
template <> ElementType type_of<std::complex<float>>();
template <> ElementType type_of<std::complex<double>>();

}  // namespace penstock
