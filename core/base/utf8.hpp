// UTF-8: where bytes are well-formed characters.
#pragma once

#include <cstddef>
#include <string_view>

namespace penstock {

// The length of the well-formed UTF-8 sequence at the start of S (Unicode table 3-7), 0 where there is none.
size_t utf8_length(std::string_view s);

}  // namespace penstock
