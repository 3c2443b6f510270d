// Timeout: the time limit for waits without progress.
#pragma once

#include <functional>
#include <string>

#include <penstock/status.hpp>

namespace penstock {

// Local, from any thread; applies from the next wait on. Sets the number of SECONDS without progress after which a wait
// ends; 0: no limit. The waiting ranks then get Code::timeout, and the message names the missing ranks. Default: the
// environment variable PENSTOCK_TIMEOUT, or 600. Ranks may differ: the shortest limit applies.
Status set_timeout(double seconds);
double timeout();

// A wait without progress for SECONDS. WHAT is "waiting for rank 3 (of 4) in commit of 'heat.h5' for 10 s: ...".
struct Waiting {
  std::string what;
  double seconds = 0;
  int rank = 0;  // of this process, if ranks wait for each other
};
// Local, from any thread. Sets a function that reports long waits. The waiting thread of each waiting rank calls TELL
// when nothing has moved for SECONDS, again after twice that time, and so on. TELL must not call this library. An empty
// TELL (the default) turns reports off. All ranks should set one, since ranks ask each other where they wait.
void when_waiting(std::function<void(const Waiting&)> tell, double seconds = 10);
// The error in PENSTOCK_TIMEOUT; empty if there is none.
std::string timeout_warning();

}  // namespace penstock
