// dtype: an element type in numpy's notation, including byte order.
#pragma once

#include <string>
#include <string_view>

#include <penstock/status.hpp>
#include <penstock/type.hpp>

namespace penstock {

// "<f8", ">c16", "i1", "S16": numpy.dtype() reads it. SWAPPED: the opposite of native byte order.
std::string dtype_of(const ElementType& type, bool swapped);
// Whether WORD is TYPE in the opposite byte order; Code::damaged if WORD is another type.
Result<bool> dtype_is_swapped(std::string_view word, const ElementType& type);

}  // namespace penstock
