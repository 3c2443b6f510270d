// Native: MPI objects for libraries that call MPI themselves: communicator, info objects, messages for error codes.
#pragma once

#include <mpi.h>

#include <penstock/communicator.hpp>

#include "core/base/hints.hpp"

namespace penstock {

// The private duplicate behind COMM, owned by COMM; MPI_COMM_SELF for the serial communicator. MPI must be running.
MPI_Comm native(const CommunicatorInterface& comm);

// Code::invalid if MPI is not initialised or already finalised.
Status mpi_running();

// Converts the error of CALL to a status; MPI's error class selects the code (no space, denied, not found, ...).
Status mpi_status(int error, const char* call);

// An owned MPI_Info, freed by the destructor; MPI_INFO_NULL if there are no hints.
class Info {
 public:
  explicit Info(const Hints& hints);
  ~Info();
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

// All keys of INFO with their values.
Hints hints_in(MPI_Info info);

}  // namespace penstock
