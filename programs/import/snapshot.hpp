// Snapshot: imports a RAMSES output into one file.
#pragma once

#include <penstock/file.hpp>

namespace penstock::importing {

// Collective. Creates a file at PATH with all grids of all processes of the output in FOLDER, except ghost copies; all
// or nothing. The processes' files are distributed over the ranks; docs/formats/ramses.md describes the result.
Status import_ramses(const Communicator& comm, const std::string& folder, const std::string& path,
                     std::string_view plan);

}  // namespace penstock::importing
