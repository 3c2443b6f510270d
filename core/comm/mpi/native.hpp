// Native: what libraries that speak MPI themselves need: the communicator, info objects, messages for error codes.
#pragma once

#include <mpi.h>

#include <penstock/communicator.hpp>

#include "core/base/hints.hpp"

namespace penstock {

// The private duplicate behind COMM, owned by it; MPI_COMM_SELF for the serial communicator. MPI must be running.
MPI_Comm native(const CommunicatorInterface& comm);

// Code::invalid where MPI has not been started, or is over.
Status mpi_running();

// The error of CALL as a status; MPI's class decides the code (no space, denied, not found, ...).
Status mpi_status(int error, const char* call);

// An MPI_Info of its own, freed at the end; MPI_INFO_NULL where there are no hints.
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

// Every key of INFO with its value.
Hints hints_in(MPI_Info info);

}  // namespace penstock
