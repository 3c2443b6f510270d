// Patience: measures how long a polling loop has made no progress, and whether that is too long.
#pragma once

#include <sched.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include <penstock/phase.hpp>
#include <penstock/status.hpp>

namespace penstock {

// Code::timeout if IDLE exceeds the limit, while waiting for WHAT.
Status check_limit(double idle, std::string_view what);

class Patience {
 public:
  // Progress was made: restarts the time.
  void moved() {
    idle_ = 0;
    last_ = now();
  }

  // Called after each poll without progress. ASKED, a communicator or request, decides how long is too long.
  template <typename Asked>
  Status idle(Asked& asked, std::string_view what) {
    if (!is_long()) return {};
    PENSTOCK_ASSIGN(idle_, asked.waited(idle_, what));
    return {};
  }
  // Same without a communicator or request.
  Status idle(std::string_view what) { return is_long() ? check_limit(idle_, what) : Status(); }

 private:
  // Time in which the program was stopped (by a debugger or batch system) does not count.
  bool is_long() {
    constexpr double first_look = 0.02, max_at_once = 1;
    const double at = now();
    idle_ += std::min(at - last_, max_at_once);
    last_ = at;
    return idle_ >= first_look;
  }

  double idle_ = 0, last_ = now();
};

// Polls TEST, yielding, until it returns true or fails, or until ASKED finds that WHAT takes too long.
template <typename Test, typename Asked>
Status wait_until(Test test, Asked& asked, std::string_view what) {
  Patience patience;
  while (true) {
    PENSTOCK_ASSIGN(const bool done, test());
    if (done) return {};
    sched_yield();  // ranks may outnumber cores
    PENSTOCK_TRY(patience.idle(asked, what));
  }
}

// Seconds that ranks have to report where they are after one has reached the limit.
double grace();

// Keeps MEMORY forever, since messages in flight may still use it.
void keep_for_ever(std::shared_ptr<const void> memory);

}  // namespace penstock
