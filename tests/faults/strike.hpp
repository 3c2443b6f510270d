// Strike: the faults that there are, and the pages by which they are ordered from the preloaded library.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/faults/inject/page.h"

namespace penstock::test {

struct Fault {
  std::string_view name;
  int kind;        // of page.h
  int error;       // errno
  unsigned calls;  // that it can hit
  bool sticky = false;

  bool kills() const { return kind == fault_kill_before || kind == fault_kill_after || kind == fault_power_kill; }
  bool cuts_power() const { return kind == fault_power || kind == fault_power_kill; }
  // The write must succeed all the same.
  bool harmless() const;
};

std::span<const Fault> all_faults();
// Null where there is none of this NAME.
const Fault* find_fault(std::string_view name);
std::string_view call_name(int call);

// The pages of ranks 0 to SIZE - 1, as files PREFIX.RANK; made where they are not there.
class Pages {
 public:
  Pages(const std::string& prefix, int size);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  // From now on all ranks count their calls below FOLDER.
  void watch(const std::string& folder);
  // FAULT hits call number AT of RANK, counted from 1 among those that it can hit.
  void order(int rank, const Fault& fault, int64_t at);
  void stop();
  // What the fault "command" runs.
  void set_command(const std::string& command);
  // Notes that the fault of RANK came after its last call.
  void strike_at_end(int rank);

  const fault_page& of(int rank) const { return *pages_[static_cast<size_t>(rank)]; }
  // Calls of RANK since watch() that FAULT could have hit.
  int64_t points(int rank, const Fault& fault) const;

 private:
  std::vector<fault_page*> pages_;
};

// Stops the file system that FOLDER is on, losing what is not on the disk: ext4 and XFS. Whether it could.
bool cut_power(const std::string& folder);

// At most MOST of 1, 2, ..., COUNT, evenly spread, the first and the last among them. MOST 0: all.
std::vector<int64_t> spread(int64_t count, int64_t most);

}  // namespace penstock::test
