// dtype: numpy's notation for element types.
#include "core/format/dtype.hpp"

#include <bit>

namespace penstock {
namespace {

// Our words for numbers begin with numpy's letters: i, u, f, c.
std::string without_order(const ElementType& type) {
  const char letter = type.kind == Kind::text ? 'S' : name(type)[0];
  return letter + std::to_string(bytes(type));
}

}  // namespace

std::string dtype_of(const ElementType& type, bool swapped) {
  const bool little = (std::endian::native == std::endian::little) != swapped;
  return scalar_bytes(type) == 1 ? without_order(type) : (little ? "<" : ">") + without_order(type);
}

Result<bool> dtype_is_swapped(std::string_view word, const ElementType& type) {
  const bool ordered = !word.empty() && (word[0] == '<' || word[0] == '>' || word[0] == '|');
  const char order = ordered ? word[0] : '|';
  if (word.substr(ordered ? 1 : 0) != without_order(type) || (order == '|' && scalar_bytes(type) > 1))
    return Status(Code::damaged, "dtype '" + std::string(word.substr(0, 40)) + "' is not one of " + name(type));
  return scalar_bytes(type) > 1 && (order == '<') != (std::endian::native == std::endian::little);
}

}  // namespace penstock
