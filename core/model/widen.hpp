// Widen: conversions to a type that holds every value of another exactly.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/type.hpp>

namespace penstock {

// Whether each value of FROM is one of TO too: f32 in f64, i8 in i16, u16 in i32 and f32, i32 in f64, f64 in
// complex128, text[3] in text[8]. A type widens to itself.
bool widens(const ElementType& from, const ElementType& to);
// COUNT elements at OUT of type TO, made of those of type FROM that end where OUT's end: in the same memory.
// REQUIRES: widens(FROM, TO).
void widen_in_place(const ElementType& from, const ElementType& to, std::byte* out, int64_t count);

}  // namespace penstock
