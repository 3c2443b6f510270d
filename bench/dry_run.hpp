// Dry run: reports the amount of data and the resources of a run, without running it.
#pragma once

#include <nlohmann/json.hpp>

#include <penstock/communicator.hpp>

#include "bench/options.hpp"

namespace penstock::bench {

// Collective over one process. For each of options.dry_run_ranks: every case with its bytes and methods, the disk and
// memory that the largest case needs, and the device's rate from a one-second measurement.
Result<nlohmann::json> dry_run(const Communicator& comm, const Options& options);

}  // namespace penstock::bench
