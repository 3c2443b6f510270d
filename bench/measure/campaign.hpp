// Campaign: all repetitions of all methods of all cases, interleaved, each verified.
#pragma once

#include <memory>
#include <vector>

#include <penstock/communicator.hpp>

#include "bench/measure/case_run.hpp"
#include "bench/measure/results.hpp"
#include "bench/options.hpp"

namespace penstock::bench {

// Collective. WANTED 0 is one less than all; more than all is Code::invalid.
Result<Ranks> choose_ranks(const Communicator& comm, int wanted);

class Campaign {
 public:
  Campaign(const Options& options, const Ranks& ranks, const Scratch& scratch, Progress& progress);

  // Collective. A method that fails is recorded and dropped, on all ranks; a status that is not ok means that measuring
  // itself is impossible. Only rank 0's results are filled.
  Result<Measured> run();

 private:
  Status prepare();
  Status repeat(int repetition, bool last);
  Status take(const Turn& turn, int repetition, bool last);
  Status lose_patience();
  Result<bool> is_last(int repetition);
  bool settled() const;
  int operations(const Turn& turn) const;

  const Options& options_;
  Ground ground_;
  std::vector<std::unique_ptr<CaseRun>> runs_;  // one for each case
  // Cases take turns in one memory, which holds contents of case FILLED_.
  std::unique_ptr<std::byte[]> written_, read_;
  size_t filled_case_ = 0;
  int filled_repetition_ = -1;
  Measured measured_;
  double start_ = 0;
};

}  // namespace penstock::bench
