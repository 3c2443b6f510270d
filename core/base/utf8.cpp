// UTF-8: the table of well-formed sequences; control characters.
#include "core/base/utf8.hpp"

#include <fmt/format.h>

namespace penstock {

size_t utf8_length(std::string_view s) {
  const auto at = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const auto tail = [&](size_t i) { return at(i) >= 0x80 && at(i) < 0xc0; };
  const unsigned c = at(0);
  if (c < 0x80) return 1;
  if (c >= 0xc2 && c < 0xe0) return tail(1) ? 2 : 0;
  if (c >= 0xe0 && c < 0xf0) {
    if (c == 0xe0 && at(1) < 0xa0) return 0;
    if (c == 0xed && at(1) >= 0xa0) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (c >= 0xf0 && c < 0xf5) {
    if (c == 0xf0 && at(1) < 0x90) return 0;
    if (c == 0xf4 && at(1) >= 0x90) return 0;
    return tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

size_t first_no_utf8(std::string_view s) {
  size_t at = 0;
  while (at < s.size()) {
    const size_t length = utf8_length(s.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::string printable(std::string_view s) {
  std::string text;
  for (size_t at = 0; at < s.size(); ++at) {
    auto c = static_cast<unsigned char>(s[at]);
    const auto next = at + 1 < s.size() ? static_cast<unsigned char>(s[at + 1]) : 0u;
    if (c == 0xc2 && next >= 0x80 && next < 0xa0) {
      c = static_cast<unsigned char>(next);  // C1
      ++at;
    } else if (c >= 0x20 && c != 0x7f) {
      text += s[at];
      continue;
    }
    if (c == '\n')
      text += "\\n";
    else if (c == '\t')
      text += "\\t";
    else if (c == '\r')
      text += "\\r";
    else
      text += fmt::format("\\x{:02x}", c);
  }
  return text;
}

}  // namespace penstock
