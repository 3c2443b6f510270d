// Published: the contents of a finished file, and what is known of its checksums; the file that a copy is made of.
#pragma once

#include <memory>
#include <optional>
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

// A file that is copied: kept open, so that its replacement or change is detected.
struct CopySource {
  std::string path;
  std::optional<FileStat> was;  // rank 0
  StorageFilePtr held;
};

// Collective. Keeps the file at PATH open on rank 0.
Result<CopySource> hold_source(const Target& target, std::string path);
// Collective. Code::mismatch if the source of a copy was changed or replaced in the meantime.
Status check_source(const Target& target, const std::optional<CopySource>& source);

// Collective. Reads again what the target's last commit published, unless that was done already.
Status refresh(Target& target, Published& file);

}  // namespace penstock
