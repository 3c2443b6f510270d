// Attribute: a small named value on a file, a group or a dataset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/dims.hpp>
#include <penstock/type.hpp>

namespace penstock {

struct Attribute {
  std::string name;
  ElementType type;
  Dims shape;                    // rank 0: a scalar
  std::vector<std::byte> value;  // native byte order, row-major

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// A scalar text attribute of exactly value.size() bytes (one NUL for an empty text).
Attribute text_attribute(std::string name, std::string_view value);
// An array of texts, padded to the length of the longest.
Attribute text_attribute(std::string name, std::span<const std::string> values);
// Copies COUNT elements of TYPE from VALUES; COUNT < 0 makes a scalar.
Attribute make_attribute(std::string name, ElementType type, const void* values, int64_t count);
// The value of a text attribute without padding; "" for other types.
std::string text(const Attribute& attribute);

}  // namespace penstock
