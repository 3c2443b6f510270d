// Placing: steps that the placements share.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/placement/placement.hpp"

namespace penstock {

const Placement& single_placement();
const Placement& parts_placement();
const Placement& per_rank_placement();
const Placement& rank_order_placement();

// A block without its elements, as a message to ranks that know them.
struct Place {
  int64_t base = 0, row_stride = 0;
  bool swapped = false;

  Place() = default;
  explicit Place(const StoredBlock& block) : base(block.base), row_stride(block.row_stride), swapped(block.swapped) {}
  StoredBlock block_of(Selection where) const { return {0, base, swapped, std::move(where), row_stride}; }
};

// The layout of one file, and its path.
using PathAndLayout = std::pair<std::string, Layout>;

// Collective. Rank 0 calls LAY_OUT and creates the files. Afterwards all ranks know them: PLACED has them as parts, and
// rank 0 their metadata. Returns the blocks of each file, which have their elements on rank 0 only.
Result<std::vector<std::vector<StoredBlock>>> share_files(
    const Placing& placing, Placed& placed, const std::function<Result<std::vector<PathAndLayout>>()>& lay_out);

// The sum of the metadata at the beginning of a file; none if there is other metadata.
FileSum head_of(const Layout& layout);
// Local. Adds the file of PATH to the parts of PLACED, behind the others, with the metadata of LAYOUT. Returns its
// number. Blocks stay in LAYOUT.
int32_t add_part(const Placing& placing, Placed& placed, std::string path, Layout& layout);
// Starts the contents with PLACED's parts, without blocks.
void begin_contents(const Placing& placing, Placed& placed);
// Checks what partial leaves unproved: a set whose blocks hold more elements than it has could not be read again.
Status check_counts(const Catalogue& catalogue, const Contents& contents);

}  // namespace penstock
