// Provenance: records the origin of a file, as attributes of the group "provenance".
#pragma once

#include <string_view>

#include <penstock/file.hpp>
#include <penstock/status.hpp>

namespace penstock {

// Local. Stores TEXT of rank 0 under KEY; calls on other ranks are ignored. A text of more than 16 KiB becomes a
// dataset "provenance/KEY" of its bytes, since HDF5 attributes are for small values.
Status set_provenance(File& file, std::string_view key, std::string_view text);
// Local. Stores what rank 0 can find out: user, host, date (UTC), machine, directory, command_line, job (of a batch
// system), and the versions of penstock, hdf5 and mpi. Unknown items are omitted.
Status collect_provenance(File& file);

}  // namespace penstock
