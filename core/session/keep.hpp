// Keep: the unchanged contents of a published file that a commit carries over.
#pragma once

#include <cstdint>
#include <vector>

#include "core/session/writing.hpp"

namespace penstock {

// Local. Inserts the datasets of OLD into those of TARGET; both are sorted. CLAIMS keep referring to theirs.
Status add_old(const Catalogue& old, NewContents& target, std::vector<Claim>& claims);

// Local. Rejects placements made of ranks' blocks, since carried-over data has none; and a change between set and
// single file, which would leave parts behind.
Status check_carry(const File::State& state);

// Collective. Rejects a damaged set: new sums and parity would cover damaged data, and the old ones would be lost.
Status check_whole(File::State& state);

// Local. Writes this rank's share of the published data, KEPT of each dataset, to its place in OUTPUT.
Status carry(File::State& state, const std::vector<int64_t>& kept, const Output& output);

}  // namespace penstock
