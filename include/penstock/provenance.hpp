// Provenance: where a file comes from, for those who find it in ten years: attributes of the group "provenance".
#pragma once

#include <string_view>

#include <penstock/file.hpp>
#include <penstock/status.hpp>

namespace penstock {

// Local. Rank 0's TEXT is stored under KEY; what other ranks say does not count, so that all may call it. A text of more than
// 16 KiB becomes a dataset "provenance/KEY" of its bytes, since attributes of HDF5 are for small values.
Status set_provenance(File& file, std::string_view key, std::string_view text);
// Local. What rank 0 can find out: user, host, date (UTC), machine, directory, command_line, job (of a batch system), and the
// versions of penstock, hdf5 and mpi. What the system does not tell is left out.
Status collect_provenance(File& file);

}  // namespace penstock
