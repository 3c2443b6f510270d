// Provenance: where, with what and from which code a run was made.
#pragma once

#include <nlohmann/json.hpp>

#include <penstock/communicator.hpp>

#include "bench/options.hpp"

namespace penstock::bench {

// Collective (the ranks' node names are gathered). Rank 0's result holds everything; elsewhere it is null.
Result<nlohmann::json> provenance(const Communicator& comm, const Options& options, const std::string& mpi_library);

// "MemAvailable" of this node in bytes; 0 where it cannot be known.
int64_t available_memory();

}  // namespace penstock::bench
