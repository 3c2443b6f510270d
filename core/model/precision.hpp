// Precision: numbers stored with fewer digits than the program has, or as another type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/attribute.hpp>
#include <penstock/status.hpp>
#include <penstock/type.hpp>

namespace penstock {

struct Precision {
  std::optional<ElementType> type;  // in the file; none: that of the program
  int keep_bits = 0;                // explicit bits of the mantissa that stay, as the others become zero; 0: all
  bool packed = false;              // stored as (value - offset) / scale: scale_factor and add_offset of CF
  double scale = 1, offset = 0;

  bool any() const { return type || keep_bits > 0 || packed; }
};

// Values that are not stored as they are for another reason than rounding.
struct Loss {
  int64_t overflowed = 0;  // beyond the range of the stored type: they become infinite, or its nearest integer
  int64_t nan = 0;         // not a number, in an integer type: they become its fill value
};

// Whether numbers of TYPE are whole.
bool is_integer(const ElementType& type);
// Whether they are real or complex floating-point numbers.
bool is_floating(const ElementType& type);
// The type in which elements of GIVEN are stored. Code::invalid, saying why, if that cannot be.
Result<ElementType> stored_type(const Precision& precision, const ElementType& given);
// Whether elements of GIVEN are changed at all. REQUIRES: stored_type() has no error.
bool converts(const Precision& precision, const ElementType& given);
// "f64 kept to 12 bits of the mantissa"; "" if it converts nothing.
std::string describe(const Precision& precision, const ElementType& given);
// What readers need to know of a dataset whose elements are GIVEN, by names that other programs know: netCDF's for kept
// bits; those of CF for packed values and for what stands for no number.
std::vector<Attribute> attributes_of(const Precision& precision, const ElementType& given);
// Converts COUNT elements of GIVEN at IN to the stored type at OUT, which may be IN if the types have one size. Rounds
// to nearest, ties to even. Adds to LOSS. REQUIRES: stored_type() has no error.
void convert(const Precision& precision, const ElementType& given, const std::byte* in, std::byte* out, int64_t count,
             Loss& loss);

}  // namespace penstock
