// CaseRun: one case in progress: the data of its workload in memory, and one file at a time.
#pragma once

#include <span>
#include <string>

#include <penstock/communicator.hpp>

#include "bench/case.hpp"
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

// Shared by all cases of a run.
struct Surroundings {
  Ranks ranks;
  const Scratch* scratch = nullptr;
  Progress* progress = nullptr;
  uint64_t seed = 1;
  bool keep = false;
  bool many_cases = false;  // methods are then identified by the case's name
};

struct OneRun {
  size_t method = 0;
  int repetition = 0;  // 0 is the warm-up
  bool last = false;
};

class CaseRun {
 public:
  // WHAT and SURROUNDINGS must stay alive. Methods write to the folders from number FIRST_FOLDER on.
  CaseRun(const Case& what, const Surroundings& surroundings, size_t first_folder);

  // Local. Determines this rank's parts and the memory they need, which must be provided before fill.
  Status prepare();
  int64_t memory_bytes() const;
  // Places all data in MEMORY. Data that is read back overwrites the written data, which can be computed again.
  void bind_memory(std::span<std::byte> memory);
  // Collective. Calibrates the compute phase, if the case has one.
  Status calibrate();

  // Collective. Fills the written memory with the contents of REPETITION; before each take.
  Status fill(int repetition);
  // Collective. The complete life of one file: write, drop or keep its pages, read, verify, remove. A method that fails
  // is recorded; a status that is not ok means that measuring itself is impossible. REQUIRES: the memory is filled.
  Status take(const OneRun& run);

  // Only rank 0 has results, except for errors.
  Results& results() { return results_; }

 private:
  Status run_once(const OneRun& run);
  Status move(const OneRun& run, const TimedFile& target);
  Status move_beside_competitors(const OneRun& run, const TimedFile& target);
  Result<Timing> time_write(const OneRun& run, const TimedFile& target) const;
  Status write(const OneRun& run, const TimedFile& target);
  Status read(const OneRun& run, const TimedFile& target);
  Status expect_digest(int repetition);
  Status verify(const OneRun& run);
  Status judge(const OneRun& run, const Faults& faults, const Digest& found);
  Status verify_by_library(const OneRun& run, const TimedFile& target);
  Status record(const OneRun& run, Operation operation, const Timing& timing, double resident);
  Truth truth(int repetition) const;
  Truth truth(const OneRun& run) const;  // within the bounds of the method's plan
  int fields() const;
  size_t folder(const OneRun& run) const { return first_folder_ + run.method; }
  std::string title(size_t method) const;

  const Case& case_;
  const Surroundings& surroundings_;
  Ranks ranks_;
  size_t first_folder_;
  Pieces written_, read_;
  Compute compute_;
  Results results_;
};

}  // namespace penstock::bench
