// CommitSums: the checksums of one commit, computed from the program's own memory, so that they do not depend on how
// the data moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/integrity/published.hpp"
#include "core/model/checksums.hpp"
#include "core/model/settings.hpp"

namespace penstock {

struct Moving;
struct NewContents;
struct Plan;
struct Tiling;

// Whether the sums are computed before the data moves and travel with it, for this amount of data and number of ranks.
inline bool sums_come_first(int64_t bytes, int ranks) { return bytes / ranks <= 4 << 20; }

struct CommitSums {
  bool wanted = false;
  bool early = false;           // computed and written before the data moves; else concurrently, in a thread if allowed
  bool in_file = false;         // as a dataset; else in the index of a set
  bool added_up = false;        // SUMS are of all ranks
  bool lossy = false;           // what is stored is known only when it is encoded: with errors, or rounded
  std::vector<BlockCut> cuts;   // of each dataset
  std::vector<bool> summed;     // the same on all ranks; false if puts may overlap or leave holes
  std::vector<bool> encoded;    // those whose encoder adds to SUMS what readers will see; empty: none
  std::vector<uint64_t> sums;   // linear; of this rank, then of all
  std::vector<uint64_t> words;  // rank 0: the record as stored in the file
  int64_t committed_at = 0;
  Record published;  // rank 0: of the file being changed
};

// Local. Cuts the datasets of CONTENTS into blocks; if the record is a dataset, adds it. Claims are not numbered yet.
void plan_sums(const Target& target, const Plan& plan, NewContents& contents);
// Collective. Finds the datasets that have sums, by the TILING and claims of CONTENTS and what is kept of FILE, which
// may be null.
Status find_summed(const Target& target, const Published* file, const Tiling& tiling, NewContents& contents);
// Local. If the sums come first and the data is in memory: this rank's sums, of all datasets, which the caller makes
// those of all ranks by exclusive or. Otherwise empty; start_sums and add_up_sums then do both.
std::span<uint64_t> sum_at_once(NewContents& contents);
// Local. Starts summing, in a thread if BACKGROUND and threads are allowed. The claims' memory must live until the end.
void start_sums(const Target& target, Moving& moving, bool background);
// Collective. Adds up all ranks' sums; rank 0 then has the record. FILE as for find_summed.
Status add_up_sums(const Target& target, const Published* file, Moving& moving);
// Rank 0, after all data is written: writes the part of the record that is not in place yet.
Status place_record(const Target& target, Moving& moving);

}  // namespace penstock
