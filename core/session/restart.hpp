// Restart: a file becomes the newest of a row of restart files.
#pragma once

#include <string>

#include "core/session/state.hpp"

namespace penstock {

// Rank 0. The file at SOURCE takes index 0 of the state's restart files, the others move up, the oldest goes.
// Code::in_doubt where it is in place but may not survive a power loss; after any other error all that were there still
// are, perhaps twice.
Status rotate(File::State& state, const std::string& source);

}  // namespace penstock
