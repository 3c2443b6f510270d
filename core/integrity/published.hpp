// Published: the contents of a finished file, and what is known of its checksums.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/checksums.hpp"
#include "core/publication/target.hpp"

namespace penstock {

// The checksums of a file, and the blocks verified so far.
struct Checking {
  Record record;
  std::vector<BlockCut> cuts;             // of each dataset of the contents; no blocks if it has no sums
  std::vector<const Record::Sums*> sums;  // null if it has no sums
  std::vector<bool> good;                 // for each block: was read and agreed
};

struct Published {
  Contents contents;
  std::string path;                         // the target's, or another file's: a copy in progress
  bool stale = false;                       // committed after contents was read: only its catalogue is current
  std::unique_ptr<Checking> checking = {};  // after its checksums were requested
};

// Collective. Reads again what the target's last commit published, unless that was done already.
Status refresh(Target& target, Published& file);

}  // namespace penstock
