// Read: fetches the ranks' requests in one planned movement.
#pragma once

#include <span>

#include "core/commit/opened.hpp"
#include "core/commit/pending.hpp"

namespace penstock {

// Collective. Fills the memory of GETS from the published FILE. If MISUSE is a failure, of any rank, all fail with it.
Status read_pending(Opened& file, std::span<const Pending> gets, const Status& misuse);

}  // namespace penstock
