// Elements: one table of names.
#include "bench/workload/element.hpp"

#include <fmt/format.h>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/model/kinds.hpp"

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

template <typename Real>
std::string with_all_digits(Real value) {
  return fmt::format("{:.{}g}", value, std::numeric_limits<Real>::max_digits10);
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
  return with_number(kind, [&]<typename T>(T value) {
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_integral_v<T>)
      return fmt::format("{}", value);
    else if constexpr (is_complex_type<T>)
      return fmt::format("({}, {})", with_all_digits(value.real()), with_all_digits(value.imag()));
    else
      return with_all_digits(value);
  });
}

}  // namespace penstock::bench
