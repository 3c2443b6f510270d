// ElementType: sizes and names of element types.
#include <penstock/type.hpp>

#include <complex>

#include <fmt/format.h>

#include "core/base/words.hpp"

namespace penstock {
namespace {

struct Row {
  std::string_view name;
  int64_t bytes;
  int64_t scalar;
};
constexpr Row rows[kind_count] = {{"i8", 1, 1},  {"i16", 2, 2}, {"i32", 4, 4},       {"i64", 8, 8},
                                  {"u8", 1, 1},  {"u16", 2, 2}, {"u32", 4, 4},       {"u64", 8, 8},
                                  {"f32", 4, 4}, {"f64", 8, 8}, {"complex64", 8, 4}, {"complex128", 16, 8},
                                  {"text", 0, 1}};

const Row& row(const ElementType& type) { return rows[static_cast<size_t>(type.kind)]; }

}  // namespace

int64_t bytes(const ElementType& type) { return type.kind == Kind::text ? type.text_bytes : row(type).bytes; }
int64_t scalar_bytes(const ElementType& type) { return row(type).scalar; }

std::string name(const ElementType& type) {
  if (type.kind == Kind::text) return fmt::format("text[{}]", type.text_bytes);
  return std::string(row(type).name);
}

Result<ElementType> parse_type(std::string_view word) {
  for (size_t i = 0; i + 1 < kind_count; ++i)
    if (rows[i].name == word) return ElementType{static_cast<Kind>(i)};
  if (word.starts_with("text[") && word.ends_with(']')) {
    const auto length = parse_number<int64_t>(word.substr(5, word.size() - 6));
    if (length && *length > 0) return ElementType{Kind::text, *length};
  }
  return Status(Code::invalid,
                fmt::format("'{}' is no element type; there are i8 to i64, u8 to u64, f32, f64, complex64, "
                            "complex128 and text[BYTES]",
                            word));
}

template <> ElementType type_of<int8_t>() { return {Kind::i8}; }
template <> ElementType type_of<int16_t>() { return {Kind::i16}; }
template <> ElementType type_of<int32_t>() { return {Kind::i32}; }
template <> ElementType type_of<int64_t>() { return {Kind::i64}; }
template <> ElementType type_of<uint8_t>() { return {Kind::u8}; }
template <> ElementType type_of<uint16_t>() { return {Kind::u16}; }
template <> ElementType type_of<uint32_t>() { return {Kind::u32}; }
template <> ElementType type_of<uint64_t>() { return {Kind::u64}; }
template <> ElementType type_of<float>() { return {Kind::f32}; }
template <> ElementType type_of<double>() { return {Kind::f64}; }
template <> ElementType type_of<std::complex<float>>() { return {Kind::complex64}; }
template <> ElementType type_of<std::complex<double>>() { return {Kind::complex128}; }

}  // namespace penstock
