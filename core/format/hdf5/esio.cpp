// ESIO: a field in its layout 2 has three dimensions, two of them joined in the file.
#include "core/format/hdf5/esio.hpp"

#include <array>
#include <cstring>

namespace penstock::hdf5 {
namespace {

// Three version numbers, then these; each a 32-bit integer.
struct Note {
  int32_t layout, c, b, a, components;
};

bool read_note(const AttributeMap& attributes, Note& note) {
  const auto found = attributes.find(std::string(esio_note));
  std::array<int32_t, 8> numbers{};
  if (found == attributes.end() || found->second.type != ElementType{Kind::i32} ||
      found->second.value.size() != sizeof numbers)
    return false;
  std::memcpy(numbers.data(), found->second.value.data(), sizeof numbers);
  note = {numbers[3], numbers[4], numbers[5], numbers[6], numbers[7]};
  return true;
}

}  // namespace

bool unfold_esio(const AttributeMap& attributes, const Dims& inner, Dims& shape) {
  Note note{};
  if (!read_note(attributes, note) || note.layout != 2 || shape.rank() != 2 + inner.rank() || inner.rank() > 1)
    return false;
  const int64_t components = inner.empty() ? 1 : inner[0];
  if (note.c < 0 || note.b < 0 || note.components != components || note.a != shape[1] ||
      int64_t{note.c} * note.b != shape[0])
    return false;
  Dims field{note.c, note.b, note.a};
  for (const int64_t extent : inner) field.push_back(extent);
  shape = field;
  return true;
}

}  // namespace penstock::hdf5
