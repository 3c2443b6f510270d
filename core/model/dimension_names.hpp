// Dimension names: what the dimensions of datasets are called, which is an attribute in a catalogue.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/catalogue.hpp"

namespace penstock {

// The attribute of a dataset that names its dimensions, slowest first: a list of texts, or one text with spaces
// between.
inline constexpr std::string_view naming_attribute = "dimensions";

using DimensionNames = std::vector<std::string>;

// What the attribute of DATASET says; nothing where it has none, or one that is no text.
std::optional<DimensionNames> dimension_names(const Catalogue& catalogue, std::string_view dataset);
Attribute naming(const DimensionNames& names);

// Whether NAMES could be those of dimensions: "y", or "group/y".
Status check_dimension_names(std::string_view dataset, std::span<const std::string> names);

}  // namespace penstock
