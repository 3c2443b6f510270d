// Timeout: for how long this library waits when nothing moves.
#pragma once

#include <functional>
#include <string>

#include <penstock/status.hpp>

namespace penstock {

// Local, any thread; from the next wait on. SECONDS without any progress after which a wait ends in Code::timeout on the
// ranks that wait; the message names the ranks that are missing. 0: no limit. It is 600, or what the environment's
// PENSTOCK_TIMEOUT says, until it is set. Ranks may differ: the shortest patience decides.
Status set_timeout(double seconds);
double timeout();

// A wait in which nothing has moved for so many SECONDS: "waiting for rank 3 (of 4) in commit of 'heat.h5' for 10 s:
// ...".
struct Waiting {
  std::string what;
  double seconds = 0;
  int rank = 0;  // this process's, where ranks wait for each other
};
// Local, any thread. From now on TELL is called on each rank that waits, by the thread that does, once nothing has
// moved for so many SECONDS, and again when it has been twice as long, and so on. It must not call this library. Empty:
// never, as it is until this is called. The ranks of all that wait should have one: they ask each other whom they wait
// for.
void when_waiting(std::function<void(const Waiting&)> tell, double seconds = 10);
// What is wrong with PENSTOCK_TIMEOUT; empty where nothing is.
std::string timeout_warning();

}  // namespace penstock
