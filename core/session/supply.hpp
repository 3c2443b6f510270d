// Supply: elements that a function of the program's makes in pieces while a commit runs.
#pragma once

#include "core/session/writing.hpp"

namespace penstock {

// Collective, when the files are laid out. Calls this rank's suppliers, adds what they make to the checksums and,
// engines apart, stores it; the transport has none of it to move. Nothing is synced. The same status everywhere.
Status supply(File::State& state, Writing& writing);

}  // namespace penstock
