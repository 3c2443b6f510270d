// FreedLater: frees the blocks of removed files in a thread, unless they are small. Local file systems free blocks
// within rename or unlink (30 to 40 ms for 128 MiB on ext4), and concurrent syncs wait. Held here, the files are freed
// while the program continues (docs/decisions/0010).
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace penstock {

// Thread-safe.
class FreedLater {
 public:
  FreedLater() = default;
  ~FreedLater() { free_held(); }
  FreedLater(const FreedLater&) = delete;
  FreedLater& operator=(const FreedLater&) = delete;

  // Holds the file at PATH, which is about to be removed, until free_held; returns whether it does. It must be large
  // and on ext4, XFS or Btrfs. The file system must have several times the held space free, since nobody gets that
  // space meanwhile.
  bool hold(const std::string& path);
  void free_held();

 private:
  std::mutex mutex_;
  std::vector<int> held_;
  int64_t bytes_ = 0;  // held
};

}  // namespace penstock
