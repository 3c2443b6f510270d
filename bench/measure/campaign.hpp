// Campaign: all repetitions of all methods, interleaved, each verified.
#pragma once

#include <penstock/communicator.hpp>

#include "bench/measure/results.hpp"
#include "bench/measure/scratch.hpp"
#include "bench/measure/timed.hpp"
#include "bench/report/progress.hpp"
#include "bench/verify/truth.hpp"

namespace penstock::bench {

// The ranks that write (all) and those that read back (the first K; null on the others).
struct Ranks {
  Communicator all, readers;
  int reader_count = 1;
};
// Collective. WANTED 0 is one less than all; more than all is Code::invalid.
Result<Ranks> choose_ranks(const Communicator& comm, int wanted);

class Campaign {
 public:
  Campaign(const Options& options, const Workload& workload, const Ranks& ranks, const Scratch& scratch,
           Progress& progress);

  // Collective. A method that fails is recorded and dropped, on all ranks; a status that is not ok means that measuring
  // itself is impossible. Only rank 0's results are filled.
  Result<Results> run();

 private:
  struct Turn {
    size_t method = 0;
    int repetition = 0;
    bool last = false;
  };
  Status prepare();
  Status repeat(int repetition, bool last);
  Result<bool> is_last(int repetition) const;
  // The whole life of one file: write, drop or keep its pages, read, verify, remove.
  Status take(const Turn& turn);
  Status write(const Turn& turn, const Target& target);
  Status read(const Turn& turn, const Target& target);
  Status expect_digest(int repetition);
  Status verify(const Turn& turn);
  Status verify_by_library(const Turn& turn, const Target& target);
  Status record(const Turn& turn, Operation operation, const Timing& timing, double resident);
  Truth truth(int repetition) const;

  const Options& options_;
  const Workload& workload_;
  const Ranks& ranks_;
  const Scratch& scratch_;
  Progress& progress_;
  Pieces written_, read_;
  Compute compute_;
  Results results_;
  double start_ = 0;
};

}  // namespace penstock::bench
