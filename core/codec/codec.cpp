// Codec: what most codecs have in common.
#include "core/codec/codec.hpp"

#include "core/model/tiles.hpp"

namespace penstock {

// Runs in row-major order: whole planes or rows as far as they fit.
Dims Codec::chunk_of(const Dataset& dataset, int64_t bytes) const {
  return Tiles(dataset, Dims::filled(dataset.shape.rank(), 1), bytes).extents();
}

}  // namespace penstock
