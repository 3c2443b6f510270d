// Supply: elements that a function of the program produces in pieces during a commit.
#pragma once

#include "core/commit/moving.hpp"

namespace penstock {

// Collective, after the files are laid out. Calls this rank's suppliers, adds their data to the checksums and, except
// for engines, writes it; the transport does not move it. Does not sync. Same status on all ranks.
Status supply(const Target& target, Moving& moving, Report& report);

}  // namespace penstock
