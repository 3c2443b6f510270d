// ESIO: reads the layout of a field from the attributes of ESIO files (docs/esio.md).
#pragma once

#include <string_view>

#include <penstock/dims.hpp>

#include "core/hdf5/attributes.hpp"

namespace penstock::hdf5 {

inline constexpr std::string_view esio_note = "esio_field_metadata";

// If ATTRIBUTES say that SHAPE, which ends with the extents INNER, is a field in layout 2, (C * B, A), changes SHAPE to
// (C, B, A). Ignores attributes that do not match SHAPE.
bool unfold_esio(const AttributeMap& attributes, const Dims& inner, Dims& shape);

}  // namespace penstock::hdf5
