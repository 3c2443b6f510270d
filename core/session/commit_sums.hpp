// CommitSums: the checksums of one commit, computed from the program's own memory, so that they do not depend on how
// the data moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/model/checksums.hpp"
#include "core/session/state.hpp"

namespace penstock {

// Whether the sums are computed before the data moves and travel with it, for this amount of data and number of ranks.
inline bool sums_come_first(int64_t bytes, int ranks) { return bytes / ranks <= 4 << 20; }

struct CommitSums {
  bool wanted = false;
  bool early = false;    // computed and written before the data moves; else concurrently, in a thread if allowed
  bool in_file = false;  // as a dataset; else in the index of a set
  std::vector<Dataset> datasets;
  std::vector<BlockCut> cuts;   // of each
  std::vector<bool> summed;     // the same on all ranks; false if puts may overlap or leave holes
  std::vector<bool> anew;       // contains no data of the published file
  std::vector<uint64_t> sums;   // linear; of this rank, then of all
  std::vector<uint64_t> words;  // rank 0: the record as stored in the file
  int64_t committed_at = 0;
  Record published;  // rank 0: of the file being changed
  std::thread thread;

  CommitSums() = default;
  CommitSums(const CommitSums&) = delete;
  CommitSums& operator=(const CommitSums&) = delete;
  ~CommitSums() { wait(); }
  void wait() {
    if (thread.joinable()) thread.join();
  }
};

// Collective. Decides what is summed; if the record is a dataset, adds it to the target.
Status plan_sums(File::State& state, Writing& writing);
// Local. Starts summing, in a thread if BEHIND and threads are allowed. The claims' memory must live until wait().
void start_sums(File::State& state, Writing& writing, bool behind);
// Collective. Both steps at once, before the data moves.
Status sum_now(File::State& state, Writing& writing);
// Collective. Adds up all ranks' sums; rank 0 then has the record.
Status add_up_sums(File::State& state, Writing& writing);
// Rank 0, after all data is written: writes the part of the record that is not in place yet.
Status place_record(File::State& state, Writing& writing);

}  // namespace penstock
