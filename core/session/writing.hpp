// Writing: the data of one commit between its start and its end.
#pragma once

#include <memory>
#include <vector>

#include "core/publication/output.hpp"
#include "core/session/commit_sums.hpp"
#include "core/session/mover.hpp"
#include "core/session/state.hpp"

namespace penstock {

// The contents of the new file, and the amount that the published one already has.
struct NewContents {
  Catalogue catalogue;
  std::vector<int64_t> kept;  // elements of each dataset that exist in the published file
};

// Inserts DATASET by name into TARGET and renumbers CLAIMS. Returns its index.
int insert_dataset(NewContents& target, std::vector<Claim>& claims, Dataset dataset);

struct Writing {
  NewContents target;
  Resolved resolved;
  Output output;
  std::vector<Pending> puts;  // own the captured data
  std::vector<Added> added;   // by a convention
  int64_t captured_bytes = 0;
  Job job;
  PhaseTimes phases;  // of the data movement, which may run in a thread
  HintsOutcome hints_outcome;
  Communicator comm;  // of the data movement
  bool communicates = false;
  bool known = false;  // the contents that complete() leaves, to all ranks
  double started_at = 0;
  CommitSums sums;
  Status supplied;               // of an engine's suppliers, on this rank
  std::unique_ptr<Mover> mover;  // last: it uses the others
};

}  // namespace penstock
