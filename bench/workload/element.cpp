// Elements: one table of names.
#include "bench/workload/element.hpp"

#include <fmt/format.h>
#include <cstring>

namespace penstock::bench {

namespace {

struct Word {
  Kind kind;
  std::string_view word;
};

constexpr Word element_words[] = {
    {Kind::i8, "int8"},    {Kind::i16, "int16"},  {Kind::i32, "int32"},           {Kind::i64, "int64"},
    {Kind::u8, "uint8"},   {Kind::u16, "uint16"}, {Kind::u32, "uint32"},          {Kind::u64, "uint64"},
    {Kind::f32, "real32"}, {Kind::f64, "real64"}, {Kind::complex64, "complex64"}, {Kind::complex128, "complex128"},
};

template <typename T>
T value(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

}  // namespace

Result<ElementType> parse_element(std::string_view word) {
  std::string words;
  for (const Word& row : element_words) {
    if (row.word == word) return ElementType{row.kind};
    words += fmt::format("{}{}", words.empty() ? "" : ", ", row.word);
  }
  return Status(Code::invalid, fmt::format("--type is one of {}, not '{}'", words, word));
}

std::string_view element_word(Kind kind) {
  for (const Word& row : element_words)
    if (row.kind == kind) return row.word;
  return "text";
}

std::string print_element(Kind kind, const std::byte* element) {
  switch (kind) {
    case Kind::i8: return fmt::format("{}", value<int8_t>(element));
    case Kind::i16: return fmt::format("{}", value<int16_t>(element));
    case Kind::i32: return fmt::format("{}", value<int32_t>(element));
    case Kind::i64: return fmt::format("{}", value<int64_t>(element));
    case Kind::u8: return fmt::format("{}", value<uint8_t>(element));
    case Kind::u16: return fmt::format("{}", value<uint16_t>(element));
    case Kind::u32: return fmt::format("{}", value<uint32_t>(element));
    case Kind::u64: return fmt::format("{}", value<uint64_t>(element));
    case Kind::f32: return fmt::format("{:.9g}", value<float>(element));
    case Kind::f64: return fmt::format("{:.17g}", value<double>(element));
    case Kind::complex64: return fmt::format("({:.9g}, {:.9g})", value<float>(element), value<float>(element + 4));
    case Kind::complex128: return fmt::format("({:.17g}, {:.17g})", value<double>(element), value<double>(element + 8));
    case Kind::text: break;
  }
  return {};
}

}  // namespace penstock::bench
