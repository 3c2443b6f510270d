// Chunk shape: chunks that lie within the blocks of ranks, where the blocks allow it.
#pragma once

#include <span>
#include <vector>

#include <penstock/communicator.hpp>

#include "core/model/catalogue.hpp"
#include "core/model/claim.hpp"

namespace penstock {

// The extents of a chunk of at most MOST bytes, or of one element, in a dataset of SHAPE whose ranks have blocks of
// BLOCK: a multiple of the extents lies where blocks meet. SIZE: bytes of an element.
Dims chunk_of_block(const Dims& shape, const Dims& block, int64_t size, int64_t most);

// Collective. For each of DATASETS the extents of chunks that no two ranks share, as CLAIMS divide it: every boundary
// between ranks is one between chunks. Empty where there are none, or only small ones, or where CUT is false.
Result<std::vector<Dims>> chunks_within_blocks(const Communicator& comm, std::span<const Dataset> datasets,
                                               const std::vector<bool>& cut, std::span<const Claim> claims,
                                               int64_t most);

}  // namespace penstock
