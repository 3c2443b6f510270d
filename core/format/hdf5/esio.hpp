// ESIO: what its files say about the layout of a field (docs/esio.md).
#pragma once

#include <string_view>

#include <penstock/dims.hpp>

#include "core/hdf5/attributes.hpp"

namespace penstock::hdf5 {

inline constexpr std::string_view esio_note = "esio_field_metadata";

// Where ATTRIBUTES say that SHAPE, whose last extents are INNER, is a field in layout 2, (C * B, A), makes (C, B, A) of
// it. Notes that do not agree with SHAPE are no notes.
bool unfold_esio(const AttributeMap& attributes, const Dims& inner, Dims& shape);

}  // namespace penstock::hdf5
