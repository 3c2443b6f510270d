// FreedBehind: large files that renames and unlinks take away. Local file systems free their blocks within that call,
// 30 to 40 ms for 128 MiB on ext4, and whoever syncs meanwhile waits too; held here, they are freed by a thread while
// the program goes on (docs/decisions/0010).
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace penstock {

// Thread-safe.
class FreedBehind {
 public:
  FreedBehind() = default;
  ~FreedBehind() { let_go(); }
  FreedBehind(const FreedBehind&) = delete;
  FreedBehind& operator=(const FreedBehind&) = delete;

  // Holds the file at PATH, about to be taken away, until let_go; whether it does. It must be large, on ext4, XFS or
  // Btrfs, and the file system must have several times as much free as is held, since nobody gets that space meanwhile.
  bool hold(const std::string& path);
  void let_go();

 private:
  std::mutex mutex_;
  std::vector<int> held_;
  int64_t bytes_ = 0;  // of what is held
};

}  // namespace penstock
