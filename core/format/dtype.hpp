// dtype: an element type in numpy's words, byte order included.
#pragma once

#include <string>
#include <string_view>

#include <penstock/status.hpp>
#include <penstock/type.hpp>

namespace penstock {

// "<f8", ">c16", "i1", "S16": numpy.dtype() reads it. SWAPPED means the other byte order than this machine's.
std::string dtype_of(const ElementType& type, bool swapped);
// Whether WORD stands for TYPE in the other byte order; Code::damaged where it stands for another type.
Result<bool> dtype_is_swapped(std::string_view word, const ElementType& type);

}  // namespace penstock
