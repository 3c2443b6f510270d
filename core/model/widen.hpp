// Widen: converts to a type that holds every value of another type exactly.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/type.hpp>

namespace penstock {

// Whether TO holds each value of FROM: f32 in f64, i8 in i16, u16 in i32 and f32, i32 in f64, f64 in complex128,
// text[3] in text[8]. A type widens to itself.
bool widens(const ElementType& from, const ElementType& to);
// Converts COUNT elements of type FROM to type TO in place. The input is at the end of the output buffer OUT.
// REQUIRES: widens(FROM, TO).
void widen_in_place(const ElementType& from, const ElementType& to, std::byte* out, int64_t count);

}  // namespace penstock
