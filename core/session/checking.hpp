// Checking: the checksums of the published file, and the blocks verified so far.
#pragma once

#include <vector>

#include "core/model/checksums.hpp"

namespace penstock {

struct Checking {
  Record record;
  std::vector<BlockCut> cuts;             // of each dataset of the contents; no blocks if it has no sums
  std::vector<const Record::Sums*> sums;  // null if it has no sums
  std::vector<bool> good;                 // for each block: was read and agreed
};

}  // namespace penstock
