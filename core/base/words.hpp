// Words: the parts of a text, and numbers that are the whole of one.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace penstock {

// The parts of TEXT before, between and after its SEPARATORS.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size(); begin += parts.back().size() + 1)
    parts.push_back(text.substr(begin, std::min(text.find(separator, begin), text.size()) - begin));
  return parts;
}

// The decimal number that all of TEXT is; nothing if it is none, or too large.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace penstock
