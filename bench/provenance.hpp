// Provenance: the machine, configuration and code version of a run.
#pragma once

#include <nlohmann/json.hpp>

#include <penstock/communicator.hpp>

#include "bench/options.hpp"

namespace penstock::bench {

// Collective (gathers the ranks' node names). Rank 0 gets the result; the others null.
Result<nlohmann::json> provenance(const Communicator& comm, const Options& options, const std::string& mpi_library);

// "MemAvailable" of this node in bytes; 0 if unknown.
int64_t available_memory();

}  // namespace penstock::bench
