// Waiting: who wants to hear of waits that feel like a hang, and when they are told.
#pragma once

#include <penstock/timeout.hpp>

namespace penstock {

// Seconds without movement after which when_waiting's function is called; infinite where nobody listens.
double told_after();
void tell_waiting(const Waiting& waiting);

// When one wait is told of: after told_after(), and again whenever it has become twice as long.
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
