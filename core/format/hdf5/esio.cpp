// ESIO: a field in its layout 2 has three dimensions, two of them joined in the file.
#include "core/format/hdf5/esio.hpp"

#include "core/netcdf/header.hpp"

namespace penstock::hdf5 {

bool unfold_esio(const AttributeMap& attributes, const Dims& inner, Dims& shape) {
  const auto found = attributes.find(std::string(esio_note));
  if (found == attributes.end() || found->second.type != ElementType{Kind::i32}) return false;
  const std::vector<int64_t> note = netcdf::integers(found->second);
  if (note.size() != 8 || shape.rank() != 2 + inner.rank() || inner.rank() > 1) return false;
  // Three version numbers come first.
  const int64_t layout = note[3], c = note[4], b = note[5], a = note[6], components = note[7];
  if (layout != 2 || c < 0 || b < 0 || components != (inner.empty() ? 1 : inner[0]) || a != shape[1] ||
      c * b != shape[0])
    return false;
  Dims field{c, b, a};
  for (const int64_t extent : inner) field.push_back(extent);
  shape = field;
  return true;
}

}  // namespace penstock::hdf5
