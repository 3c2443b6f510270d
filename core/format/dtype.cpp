// dtype: numpy's notation for element types.
#include "core/format/dtype.hpp"

#include <bit>

namespace penstock {
namespace {

std::string without_order(const ElementType& type) {
  const char* letter = "?";  // NOLINT(clang-analyzer-deadcode.DeadStores): for a value that is no Kind
  switch (type.kind) {
    case Kind::i8:
    case Kind::i16:
    case Kind::i32:
    case Kind::i64: letter = "i"; break;
    case Kind::u8:
    case Kind::u16:
    case Kind::u32:
    case Kind::u64: letter = "u"; break;
    case Kind::f32:
    case Kind::f64: letter = "f"; break;
    case Kind::complex64:
    case Kind::complex128: letter = "c"; break;
    case Kind::text: letter = "S"; break;
  }
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
