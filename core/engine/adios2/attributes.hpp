// Attributes: converts the attributes of a catalogue to an ADIOS2 IO and back.
#pragma once

#include "core/engine/adios2/folder.hpp"

namespace penstock::bp5 {

// Local. Defines attributes and notes. NOTES: also for datasets that need none, since they may have no block.
Status define_attributes(adios2_io* io, const Catalogue& catalogue, bool notes);

// Local; call in this order. Reads the contents of the open FOLDER into CATALOGUE, and the first unsupported item into
// LEFT_OUT. MOST_TEXT: all attribute texts have fewer bytes.
Status find_datasets(const Folder& folder, Catalogue& catalogue, std::string& left_out);
Status find_attributes(const Folder& folder, size_t max_text, Catalogue& catalogue, std::string& left_out);

// The variable of dataset NAME; names by ADIOS2's own users begin with a slash. Null if there is none.
adios2_variable* find_variable(adios2_io* io, const std::string& name);

}  // namespace penstock::bp5
