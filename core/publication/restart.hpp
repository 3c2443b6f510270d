// Restart: names of restart files, and how a file becomes the newest of them.
#pragma once

#include <cstdint>
#include <string>

#include <penstock/status.hpp>

namespace penstock {

struct Target;

// The names of restart files: PREFIX, an index, SUFFIX. The newest has index 0; RETAIN are kept.
struct Restart {
  std::string prefix, suffix;  // with the folder
  int digits = 1;              // minimum number of digits of an index
  int64_t retain = 1;
  std::string path(int64_t index) const;
  // Whether PATH is one of these names, with any index.
  bool has(const std::string& path) const;
};

// Collective. The names that PATTERN gives beside TARGET, the same on all ranks, or the same error. PUBLISHED: the
// target is a committed file, which is renamed.
Result<Restart> agree_restart(const Target& target, const std::string& pattern, int64_t retain, bool published);

// Rank 0. Gives the file at SOURCE index 0 of the target's restart files, moves the others up, and removes the oldest.
// Code::in_doubt if it is in place but may not survive a power loss. After any other error all previous files still
// exist, possibly twice.
Status rotate(const Target& target, const std::string& source);

}  // namespace penstock
