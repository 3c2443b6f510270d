// Elements: the words of the command line and of records for types of elements, as IOR's and Fortran's users say them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <penstock/type.hpp>

namespace penstock::bench {

// int8 to int64, uint8 to uint64, real32, real64, complex64, complex128.
Result<ElementType> parse_element(std::string_view word);
std::string_view element_word(Kind kind);
// The value that lies at ELEMENT, with all its digits.
std::string print_element(Kind kind, const std::byte* element);

}  // namespace penstock::bench
