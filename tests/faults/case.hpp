// Case: one fault at one call of one rank, and what is to be thought of what came of it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "tests/faults/checkpoint.hpp"
#include "tests/faults/strike.hpp"

namespace penstock::test {

struct Case {
  const Fault* fault;
  int rank;
  int64_t at;
};

// Every fault at every call that it can hit, as PAGES counted them; at most MOST calls for each fault and rank.
std::vector<Case> cases(const Pages& pages, int size, std::string_view faults, int64_t most);

struct Ended {
  bool hung = false;
  int signal = 0;  // that ended it
};

// Runs WORK in a process of its own, which is killed after SECONDS.
Ended in_child(int seconds, const std::function<void()>& work);
// The same, for work that has a status or a finding, as far as it got.
Ended in_child(int seconds, const std::function<Status()>& work, Status& status);
Finding find_in_child(const std::string& path);

std::set<std::string> listing(const std::string& folder);

struct After {
  Ended ended;
  std::vector<Status> statuses;  // of the ranks; none where the process ended before it had one
  Finding found;
  std::set<std::string> before, after;  // names in the folder
};

// "" where all is well, else one word:
//   lost       neither version can be read             damaged    something else was read
//   hang       no end within the limit                 crash      ended by a signal that was not ordered
//   differ     ranks have other statuses               state      success and the old one, or an error and the new one
//   refused    an error where none was called for      misnamed   an error of the wrong kind
//   swallowed  success after a failed sync or close    leftover   files that nobody needs
std::string_view defect(const Case& one, const fault_page& page, const After& after);

// A line of words between tabs, for torture.py.
void report(size_t number, const Case& one, const fault_page& page, const After& after);

}  // namespace penstock::test
