// Dry run: what a run would move, and what it needs, without running it.
#pragma once

#include <nlohmann/json.hpp>

#include <penstock/communicator.hpp>

#include "bench/options.hpp"

namespace penstock::bench {

// Collective over one process. For each of options.dry_run_ranks: every case with its bytes and methods, and what disk
// and memory the largest needs; and how fast the device is, from a second of measuring it.
Result<nlohmann::json> dry_run(const Communicator& comm, const Options& options);

}  // namespace penstock::bench
