// Take: keeps a put until the next commit, thinned as an output profile says, and in the form in which it is stored.
#pragma once

#include <penstock/file.hpp>

#include "core/commit/pending.hpp"

namespace penstock {

// Local. Copies the elements of PUT if COPIES is set, or if they cannot be stored from where they are.
Status take(File::State& state, Pending put, bool copies);

}  // namespace penstock
