// Timeout: for how long this library waits when nothing moves.
#pragma once

#include <string>

#include <penstock/status.hpp>

namespace penstock {

// Local, any thread; from the next wait on. SECONDS without any progress after which a wait ends in Code::timeout on the
// ranks that wait; the message names the ranks that are missing. 0: no limit. It is 600, or what the environment's
// PENSTOCK_TIMEOUT says, until it is set. Ranks may differ: the shortest patience decides.
Status set_timeout(double seconds);
double timeout();
// What is wrong with PENSTOCK_TIMEOUT; empty where nothing is.
std::string timeout_warning();

}  // namespace penstock
