// Keep: what a commit keeps of the published file that it changes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/session/writing.hpp"

namespace penstock {

// Local. The datasets of OLD come between those of TARGET; both are sorted. CLAIMS keep to theirs.
Status add_old(const Catalogue& old, Target& target, std::vector<Claim>& claims);

// Local. What is kept has no blocks of ranks, which these placements are made of. And a set that became a single file,
// or the other way round, would leave its parts behind.
Status check_keep(const File::State& state);

// Collective. Sums and parity of the new set would be those of rot, and what could repair it goes with the old one.
Status check_whole(File::State& state);

// Local. This rank's share of the published data, KEPT of each dataset, goes to its place in OUTPUT.
Status carry(File::State& state, const std::vector<int64_t>& kept, const Output& output);

}  // namespace penstock
