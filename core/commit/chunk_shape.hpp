// Chunk shape: chunks that lie within the blocks of ranks, where the blocks allow it.
#pragma once

#include <span>
#include <vector>

#include <penstock/communicator.hpp>

#include "core/model/catalogue.hpp"
#include "core/model/claim.hpp"

namespace penstock {

// The extents of a chunk of at most MOST bytes, or of one element, in a dataset of SHAPE whose ranks have blocks of
// BLOCK: a multiple of the extents lies where blocks meet. SIZE: bytes of an element. In each dimension it has UNIT
// elements or more, where a block can be divided so.
Dims chunk_of_block(const Dims& shape, const Dims& block, int64_t size, int64_t most, const Dims& unit);
// Blocks of ranks, by the extents of the largest: every boundary between ranks is one between blocks. UNEVEN: but for
// the first dimension. No extents: there are no such blocks.
struct RankBlocks {
  Dims extents;
  bool uneven = false;
};

// The same, or nothing where chunks would be small, or where ranks would share more than few. Its elements are a
// MULTIPLE where that makes no chunk much smaller.
Dims chunk_within(const Dataset& dataset, const RankBlocks& blocks, const Dims& unit, int64_t most,
                  int64_t multiple = 1);

// Collective. For each of DATASETS the blocks into which CLAIMS divide it. None where CUT is false.
Result<std::vector<RankBlocks>> blocks_of_ranks(const Communicator& comm, std::span<const Dataset> datasets,
                                                const std::vector<bool>& cut, std::span<const Claim> claims);

}  // namespace penstock
