// Checkpoint: writes a field to one file and reads it; the file is independent of the number of ranks.
#pragma once

#include <penstock/status.hpp>

#include "field.hpp"

namespace amr {

// Collective; same status on all ranks. Also writes a file for ParaView.
penstock::Status write(const std::string& path, const Field& field);
penstock::Result<Field> read(MPI_Comm comm, const std::string& path);

}  // namespace amr
