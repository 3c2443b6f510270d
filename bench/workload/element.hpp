// Elements: names of element types on the command line and in records, similar to IOR and Fortran.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <penstock/type.hpp>

namespace penstock::bench {

// int8 to int64, uint8 to uint64, real32, real64, complex64, complex128.
Result<ElementType> parse_element(std::string_view word);
std::string_view element_word(Kind kind);
// The value at ELEMENT, with all digits.
std::string print_element(Kind kind, const std::byte* element);

}  // namespace penstock::bench
