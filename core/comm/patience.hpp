// Patience: for how long a polling loop has seen nothing move, and when that is too long.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>

#include <penstock/phase.hpp>
#include <penstock/status.hpp>

namespace penstock {

// Code::timeout once IDLE is past the limit: waiting for WHAT.
Status check_limit(double idle, std::string_view what);

class Patience {
 public:
  // Something moved: the time begins anew.
  void moved() {
    idle_ = 0;
    last_ = now();
  }

  // At each look that found nothing to do. ASKED, a communicator or request, judges how long is too long.
  template <typename Asked>
  Status idle(Asked& asked, std::string_view what) {
    if (!is_long()) return {};
    PENSTOCK_ASSIGN(idle_, asked.waited(idle_, what));
    return {};
  }
  // The same where there is nobody to ask.
  Status idle(std::string_view what) { return is_long() ? check_limit(idle_, what) : Status(); }

 private:
  // A program that was stopped (a debugger, a batch system) has not waited meanwhile.
  bool is_long() {
    constexpr double first_look = 0.02, most_at_once = 1;
    const double at = now();
    idle_ += std::min(at - last_, most_at_once);
    last_ = at;
    return idle_ >= first_look;
  }

  double idle_ = 0, last_ = now();
};

// Seconds that ranks have to say where they are, when one has run into the limit.
double grace();

// MEMORY that messages under way may still use when nobody waits for them any more.
void keep_for_ever(std::shared_ptr<const void> memory);

}  // namespace penstock
