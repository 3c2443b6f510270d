// Native: MPI objects for code that calls MPI itself: communicators, info objects, messages for error codes.
#pragma once

#include <mpi.h>

#include <penstock/communicator.hpp>

#include "core/base/hints.hpp"

namespace penstock {

class MpiCommunicatorInterface : public CommunicatorInterface {
 public:
  virtual MPI_Comm native() const = 0;
};

// The private duplicate behind COMM, owned by COMM; MPI_COMM_SELF for the serial communicator. MPI must be running.
MPI_Comm native(const CommunicatorInterface& comm);

// Whether MPI is initialised and not yet finalised.
bool mpi_runs();
// Code::invalid if it does not run.
Status mpi_running();

// The attribute KEY of COMM; null if it has none.
void* attribute_of(MPI_Comm comm, int key);

// Converts the MPI error of CALL; on files, MPI's error class selects the code (no space, denied, not found, ...).
Status check_mpi(int error, const char* call);
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
