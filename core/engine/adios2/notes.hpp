// Notes: what ADIOS2 has no words for, as attributes beside a variable or an attribute.
#pragma once

#include <string>
#include <string_view>

#include <penstock/attribute.hpp>
#include <penstock/status.hpp>

#include "core/model/catalogue.hpp"

namespace penstock::bp5 {

inline constexpr std::string_view dataset_note = "_penstock";         // of a dataset: "text[11] 19,7 unlimited"
inline constexpr std::string_view attribute_note = "_penstock_type";  // of an attribute: "complex64 4"

// "fluid/rho" and "units" as "fluid/rho/units"; the file is "".
std::string joined(std::string_view object, std::string_view name);

// Name and notes of DATASET, and back; a scalar's shape is "-".
std::string note_of(const Dataset& dataset);
Result<Dataset> parse_note(std::string name, std::string_view note);

// Whether ATTRIBUTE comes back the same without a note.
bool is_plain(const Attribute& attribute);
// The texts of a text attribute without their padding.
std::vector<std::string> texts_of(const Attribute& attribute);

// Why CATALOGUE cannot be told from ADIOS2's names.
Status check_names_of(const Catalogue& catalogue);

}  // namespace penstock::bp5
