// Waiting: whether long waits are reported, and when.
#pragma once

#include <penstock/timeout.hpp>

namespace penstock {

// Seconds without progress before the function of when_waiting is called; infinite if none is set.
double told_after();
void tell_waiting(const Waiting& waiting);

// The times at which one wait is reported: after told_after(), and each time its duration has doubled.
class Telling {
 public:
  bool due(double idle) {
    if (idle < told_after()) next_ = 0;
    return idle >= told_after() && idle >= next_;
  }
  void told(double idle) { next_ = 2 * idle; }

 private:
  double next_ = 0;
};

}  // namespace penstock
