// Campaign: all repetitions of all methods of all cases, interleaved, each verified.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <penstock/communicator.hpp>

#include "bench/measure/case_run.hpp"
#include "bench/measure/results.hpp"
#include "bench/options.hpp"

namespace penstock::bench {

// Collective. WANTED 0 means all ranks but one; more than all is Code::invalid.
Result<Ranks> choose_ranks(const Communicator& comm, int wanted);

// Stores the state after each repetition, so that nothing is lost if the run is terminated.
using Keep = std::function<Status(const Measured& so_far)>;

class Campaign {
 public:
  // KEEP is called on rank 0, outside of all timing; may be null.
  Campaign(const Options& options, const Ranks& ranks, const Scratch& scratch, Progress& progress, Keep keep);

  // Collective. A method that fails is recorded and dropped on all ranks; a status that is not ok means that measuring
  // itself is impossible. Only rank 0's results are filled.
  Result<Measured> run();

 private:
  Status prepare();
  Status repeat(int repetition, bool last);
  Measured so_far() const;
  Status lose_patience();
  Result<bool> is_last(int repetition);
  bool settled() const;
  int operations(const Turn& turn) const;

  const Options& options_;
  Surroundings surroundings_;
  std::vector<std::unique_ptr<CaseRun>> runs_;  // one per case
  std::unique_ptr<std::byte[]> memory_;         // shared by cases in turn
  Measured measured_;                           // without its cases, which are in the runs
  Keep keep_;
  double start_ = 0;
};

}  // namespace penstock::bench
