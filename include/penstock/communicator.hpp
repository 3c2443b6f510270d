// Communicator: the ranks that share a file.
#pragma once

#include <memory>

namespace penstock {

// Made by mpi_communicator (penstock/mpi.hpp) or by serial_communicator, and passed to what is collective.
class CommunicatorInterface;
using Communicator = std::shared_ptr<const CommunicatorInterface>;

// A communicator of one rank, without MPI.
Communicator serial_communicator();

}  // namespace penstock
