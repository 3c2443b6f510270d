// Thinned: what a subset leaves of a put, and the blocks of means that several puts or ranks share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>

#include "core/commit/pending.hpp"
#include "core/model/block_means.hpp"

namespace penstock {

// The shape that a subset of PUT refers to: that of the dataset; with ragged rows, of this rank's own.
Dims whole_shape(const Pending& put);

// Local. The stored points of PUT, where they are in its memory if it is one box; otherwise a copy of them. A supplier
// is asked for what lies between two stored elements of a row, too.
Result<Pending> thin(Pending put, const Subset& subset);

// Blocks of one dataset of which this rank knows a part.
struct CutBlocks {
  ElementType type;  // of the program's elements
  Subset subset;
  Precision precision;  // of the means
  BlockSums sums;
};
using AllCutBlocks = std::map<std::string, CutBlocks>;  // by dataset
void add(AllCutBlocks& all, AllCutBlocks more);

// Local. The means of the blocks that each box of PUT has as a whole. The rest is added to CUT. PUT is no supplier's,
// and has no ragged rows.
Result<Pending> take_means(Pending put, const Subset& subset, const Precision& precision, AllCutBlocks& cut);
// Local. Moves blocks that are whole by now out of CUT. PUTS have a put of each dataset, as take_means returned it.
Result<std::vector<Pending>> take_whole_blocks(AllCutBlocks& cut, std::span<const Pending> puts);
// Collective. Sends the parts of each block to one rank, which adds them in the order of the ranks. Code::incomplete if
// a block has not all of its points.
Result<std::vector<Pending>> join_blocks(const Communicator& comm, AllCutBlocks cut);

}  // namespace penstock
