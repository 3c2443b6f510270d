// Units: byte counts as people write them.
#include "core/base/units.hpp"

#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace penstock {

Result<int64_t> parse_bytes(std::string_view text) {
  const auto bad = [&] {
    return Status(Code::invalid, fmt::format("'{}' is no size; write for example 512MiB, 4k or 1048576", text));
  };
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !(number >= 0)) return bad();
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  double factor = 1;
  if (!unit.empty() && std::toupper(static_cast<unsigned char>(unit.front())) != 'B') {
    const auto power =
        std::string_view("KMGTP").find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front()))));
    if (power == std::string_view::npos) return bad();
    factor = std::ldexp(1.0, 10 * (static_cast<int>(power) + 1));
    unit.remove_prefix(1);
    if (!unit.empty() && unit.front() == 'i') unit.remove_prefix(1);
  }
  if (!unit.empty() && unit != "B" && unit != "b") return bad();
  const double bytes = number * factor;
  if (bytes >= 9.2e18 || bytes != std::floor(bytes)) return bad();
  return static_cast<int64_t>(bytes);
}

std::string format_bytes(int64_t bytes) {
  static constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  if (value == std::floor(value)) return fmt::format("{:.0f} {}", value, units[unit]);
  return fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace penstock
