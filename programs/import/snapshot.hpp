// Snapshot: one file of a RAMSES output.
#pragma once

#include <penstock/file.hpp>

namespace penstock::importing {

// Collective. A new file at PATH with all grids of all processes of the output in FOLDER, the ghost copies apart; all
// or nothing. The processes' files are dealt out to the ranks; docs/formats/ramses.md says what is in the file.
Status import_ramses(const Communicator& comm, const std::string& folder, const std::string& path,
                     std::string_view plan);

}  // namespace penstock::importing
