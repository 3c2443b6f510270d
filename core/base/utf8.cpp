// UTF-8: the table of well-formed sequences.
#include "core/base/utf8.hpp"

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

}  // namespace penstock
