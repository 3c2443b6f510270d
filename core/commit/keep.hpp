// Keep: the unchanged contents of a published file that a commit carries over.
#pragma once

#include <cstdint>
#include <vector>

#include "core/commit/contents.hpp"
#include "core/publication/output.hpp"

namespace penstock {

// Local. Inserts the datasets of OLD into those of CONTENTS; both are sorted. Attributes of CONTENTS take precedence.
Status add_old(const Catalogue& old, NewContents& contents);

// Local. Rejects a change between set and single file, which would leave parts behind.
Status check_files(const Opened& file);

// Collective. Rejects a damaged set: new sums and parity would cover damaged data, and the old ones would be lost.
Status check_whole(const Target& target, const Published& file);

// Local. Copies this rank's share of the old data, the first KEPT elements of each dataset, from FILE to OUTPUT. Raises
// MEMORY_PEAK to the size of its buffer if that is larger.
Status carry(const Target& target, const Published& file, std::span<const int64_t> kept, const Output& output,
             int64_t& memory_peak);

}  // namespace penstock
