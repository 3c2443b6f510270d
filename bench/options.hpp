// Options: what the command line of penstock-bench asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/status.hpp>

#include "bench/case.hpp"
#include "bench/count/count.hpp"
#include "bench/launch.hpp"
#include "bench/preset/preset.hpp"

namespace penstock::bench {

struct Options {
  std::vector<Case> cases;               // one in an ordinary run
  const Preset* preset = nullptr;        // null in an ordinary run
  bool listed = false;                   // many cases, each under its name
  std::vector<RatioRow> ratios;          // of the preset, that were asked for
  std::vector<Unavailable> unavailable;  // what was asked for and this build or this run has not

  std::optional<CountRequest> count;  // instead of all that: only count

  std::vector<int> dry_run_ranks;  // not empty: only say what runs on so many ranks would need

  int repetitions = 6;
  uint64_t seed = 1;
  int readers = 0;                   // 0: one less than there are ranks
  double time_limit_seconds = 0;     // 0: none
  double half_width = 0;             // of every interval, relative to its median, at which measuring stops; 0: never
  std::string threads = "funneled";  // MPI's thread level, which Launch has set

  std::string directory;
  std::string json;  // "": no JSON file
  bool progress = false;
  bool keep = false;
  bool list_methods = false;  // print what there is as JSON and end

  std::string help;                    // not empty: print it and end
  std::vector<std::string> arguments;  // as given
};

// The same on every rank, since every rank has the same arguments. Code::invalid explains itself in one line.
// LAUNCH is asked, collectively, for what a preset needs to know.
Result<Options> parse_options(int argc, char** argv, const Launch& launch);
// Local. Makes the workload of every case for RANKS that write.
Status make_workloads(Options& options, int ranks);

}  // namespace penstock::bench
