// Dimension names: the names of dataset dimensions, stored as an attribute in a catalogue.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/catalogue.hpp"

namespace penstock {

// The attribute of a dataset that names its dimensions, slowest first: a list of texts, or one text with names
// separated by spaces.
inline constexpr std::string_view naming_attribute = "dimensions";

using DimensionNames = std::vector<std::string>;

// The names in DATASET's attribute; nothing if it has none or the attribute is not a text.
std::optional<DimensionNames> dimension_names(const Catalogue& catalogue, std::string_view dataset);
Attribute naming(const DimensionNames& names);

// Whether NAMES are valid dimension names: "y", or "group/y".
Status check_dimension_names(std::string_view dataset, std::span<const std::string> names);

}  // namespace penstock
