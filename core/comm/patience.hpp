// Patience: how a polling loop waits, how long it has made no progress, and whether that is too long.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>
#include <thread>

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

  // Same as idle(), and rests before the next poll.
  template <typename Asked>
  Status wait(Asked& asked, std::string_view what) {
    rest();
    return idle(asked, what);
  }

 private:
  // Ranks may outnumber cores, and what this one waits for may be computing on its core. A sleep makes a long wait
  // longer by some percent.
  void rest() const {
    constexpr double min_idle = 1e-3, max_nap = 1e-3;
    if (idle_ < min_idle)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(idle_ / 16, max_nap)));
  }

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

// Polls TEST until it returns true or fails, or until ASKED finds that WHAT takes too long.
template <typename Test, typename Asked>
Status wait_until(Test test, Asked& asked, std::string_view what) {
  Patience patience;
  while (true) {
    PENSTOCK_ASSIGN(const bool done, test());
    if (done) return {};
    PENSTOCK_TRY(patience.wait(asked, what));
  }
}

// Seconds that ranks have to report where they are after one has reached the limit.
double grace();

// Keeps MEMORY forever, since messages in flight may still use it.
void keep_for_ever(std::shared_ptr<const void> memory);

}  // namespace penstock
