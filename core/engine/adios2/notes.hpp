// Notes: attributes that store what ADIOS2 cannot express about a variable or an attribute.
#pragma once

#include <string>
#include <string_view>

#include <penstock/attribute.hpp>
#include <penstock/status.hpp>

#include "core/model/catalogue.hpp"

namespace penstock::bp5 {

inline constexpr std::string_view dataset_note = "_penstock";         // of a dataset: "text[11] 19,7 unlimited"
inline constexpr std::string_view attribute_note = "_penstock_type";  // of an attribute: "complex64 4"

// Joins "fluid/rho" and "units" to "fluid/rho/units"; the file is "".
std::string joined(std::string_view object, std::string_view name);

// Encodes name and notes of DATASET; the shape of a scalar is "-". And the reverse.
std::string note_of(const Dataset& dataset);
Result<Dataset> parse_note(std::string name, std::string_view note);

// Whether ATTRIBUTE reads back unchanged without a note.
bool is_plain(const Attribute& attribute);
// The texts of a text attribute, without padding.
std::vector<std::string> texts_of(const Attribute& attribute);

// ok, or why ADIOS2's names would make CATALOGUE ambiguous.
Status check_names_of(const Catalogue& catalogue);

}  // namespace penstock::bp5
