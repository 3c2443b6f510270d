// UTF-8: well-formed characters, and those that give orders to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock {

// The length of the well-formed UTF-8 sequence at the start of S (Unicode table 3-7); 0 if there is none.
size_t utf8_length(std::string_view s);
// The index of the first byte of S outside well-formed sequences; the size of S if there is none.
size_t first_no_utf8(std::string_view s);
// S with its control characters (ASCII and C1) written as \n, \t or \x1b, as in tools/penstock/base/printable.py.
std::string printable(std::string_view s);

}  // namespace penstock
