// Options: the command line of penstock-bench.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/status.hpp>

#include "bench/case.hpp"
#include "bench/count/count.hpp"

namespace penstock::bench {

struct Options {
  std::vector<Case> cases;               // one in an ordinary run
  bool listed = false;                   // many cases, each with a name
  std::vector<Unavailable> unavailable;  // requested items that this build or run does not have

  double slow_factor = 0;  // methods this much slower than the first in the warm-up are dropped or measured less often

  std::optional<CountRequest> count;  // if set: only count

  std::vector<int> dry_run_ranks;  // if not empty: only report the resources for these numbers of ranks
  bool problems_only = false;      // of that report

  int repetitions = 6;
  uint64_t seed = 1;
  int readers = 0;                   // 0: all ranks but one
  double time_limit_seconds = 0;     // 0: none
  double half_width = 0;             // relative half-width of all intervals at which measuring stops; 0: never
  std::string threads = "funneled";  // MPI's thread level, as set by Launch

  std::string directory;
  std::string json;  // "": no JSON file
  bool progress = false;
  bool keep = false;

  std::string problem;                 // whose estimates are the answer
  std::string answer;                  // if not empty: print it and exit
  std::vector<std::string> arguments;  // as given
};

// The same on every rank, since every rank has the same arguments. Code::invalid has a one-line explanation.
Result<Options> parse_options(int argc, char** argv);
// Local. Makes the workload of every case for RANKS writers.
Status make_workloads(Options& options, int ranks);

}  // namespace penstock::bench
