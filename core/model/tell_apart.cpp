// Tell apart: whole values if they are short, else the part around the first difference.
#include "core/model/tell_apart.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/model/catalogue.hpp"
#include "core/model/kinds.hpp"

namespace penstock {
namespace {

constexpr int64_t max_elements = 8;
constexpr size_t max_characters = 60, characters_before = 20;

// From character FIRST on.
std::string quoted(std::string_view text, size_t first) {
  std::string part(text.substr(std::min(first, text.size()), max_characters));
  std::ranges::replace_if(part, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return fmt::format("'{}{}{}'", first > 0 ? "..." : "", part, first + max_characters < text.size() ? "..." : "");
}

std::string_view text_at(const Attribute& a, int64_t index) {
  const auto size = static_cast<size_t>(a.type.text_bytes);
  const auto* text = reinterpret_cast<const char*>(a.value.data()) + static_cast<size_t>(index) * size;
  return {text, ::strnlen(text, size)};
}

std::string element(const Attribute& a, int64_t index, size_t first_character) {
  if (a.type.kind == Kind::text) return quoted(text_at(a, index), first_character);
  return with_number(a.type.kind, [&]<typename T>(T value) {
    std::memcpy(&value, a.value.data() + index * bytes(a.type), sizeof value);
    if constexpr (is_complex_type<T>)
      return fmt::format("({}, {})", value.real(), value.imag());
    else
      return fmt::format("{}", value);
  });
}

std::string values(const Attribute& a, size_t first_character) {
  if (a.shape.rank() == 0) return element(a, 0, first_character);
  std::string list;
  const int64_t count = elements(a.shape);
  for (int64_t i = 0; i < std::min(count, max_elements); ++i)
    list += (i > 0 ? ", " : "") + element(a, i, first_character);
  return fmt::format("[{}{}]", list, count > max_elements ? ", ..." : "");
}

size_t first_character(std::string_view a, std::string_view b) {
  const auto at = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  return std::max(a.size(), b.size()) <= max_characters || at < characters_before ? 0 : at - characters_before;
}

}  // namespace

std::pair<std::string, std::string> tell_apart(const Attribute& a, const Attribute& b) {
  const bool same_shape = a.shape == b.shape, texts = a.type.kind == Kind::text && b.type.kind == Kind::text;
  std::string before_a, before_b, behind;
  if (a.type != b.type && !texts) {
    before_a = name(a.type) + " ";
    before_b = name(b.type) + " ";
  }
  if (!same_shape) {
    before_a += describe(a.shape) + " ";
    before_b += describe(b.shape) + " ";
  }
  if (same_shape && a.type.kind == b.type.kind && elements(a.shape) > 0) {
    const int64_t count = elements(a.shape);
    int64_t at = 0;
    const auto same = [&](int64_t i) {
      const int64_t size = bytes(a.type);
      return texts ? text_at(a, i) == text_at(b, i)
                   : std::memcmp(a.value.data() + i * size, b.value.data() + i * size, static_cast<size_t>(size)) == 0;
    };
    while (at + 1 < count && same(at)) ++at;
    const size_t first = texts ? first_character(text_at(a, at), text_at(b, at)) : 0;
    if (count > max_elements || first > 0) {
      if (a.shape.rank() > 0) behind = " at " + describe(coordinates(a.shape, at));
      return {before_a + element(a, at, first) + behind, before_b + element(b, at, first) + behind};
    }
  }
  return {before_a + values(a, 0), before_b + values(b, 0)};
}

}  // namespace penstock
