// Attributes: of a catalogue into an ADIOS2 IO, and back.
#pragma once

#include "core/engine/adios2/folder.hpp"

namespace penstock::bp5 {

// Local. Attributes and notes; NOTES also of datasets that would do without, since they may have no block.
Status define_attributes(adios2_io* io, const Catalogue& catalogue, bool notes);

// Local, in this order. What is in the open FOLDER into CATALOGUE; the first thing that it cannot hold into LEFT_OUT.
// MOST_TEXT: no text of an attribute has as many bytes.
Status find_datasets(const Folder& folder, Catalogue& catalogue, std::string& left_out);
Status find_attributes(const Folder& folder, size_t most_text, Catalogue& catalogue, std::string& left_out);

// The variable of dataset NAME, which ADIOS2's own users begin with a slash; null where there is none.
adios2_variable* find_variable(adios2_io* io, const std::string& name);

}  // namespace penstock::bp5
