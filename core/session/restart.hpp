// Restart: makes a file the newest of a sequence of restart files.
#pragma once

#include <string>

#include "core/session/state.hpp"

namespace penstock {

// Rank 0. Gives the file at SOURCE index 0 of the restart files, moves the others up, and removes the oldest.
// Code::in_doubt if it is in place but may not survive a power loss. After any other error all previous files still
// exist, possibly twice.
Status rotate(File::State& state, const std::string& source);

}  // namespace penstock
