// UTF-8: where bytes are well-formed characters.
#pragma once

#include <cstddef>
#include <string_view>

namespace penstock {

// The length of the well-formed UTF-8 sequence at the start of S (Unicode table 3-7), 0 where there is none.
size_t utf8_length(std::string_view s);
// The first byte of S that is no part of such a sequence; S's size where all are.
size_t first_no_utf8(std::string_view s);

}  // namespace penstock
