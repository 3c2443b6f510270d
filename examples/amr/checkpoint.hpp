// Checkpoint: a field to one file and back; the file does not remember how many ranks wrote it.
#pragma once

#include <penstock/status.hpp>

#include "field.hpp"

namespace amr {

// Collective; the same status on all ranks. A file for ParaView lies beside.
penstock::Status write(const std::string& path, const Field& field);
penstock::Result<Field> read(MPI_Comm comm, const std::string& path);

}  // namespace amr
