// MpiCommunicatorInterface: a communicator based on an MPI communicator.
#pragma once

#include <mpi.h>

#include <penstock/communicator.hpp>

namespace penstock {

class MpiCommunicatorInterface : public CommunicatorInterface {
 public:
  virtual MPI_Comm native() const = 0;
};

}  // namespace penstock
