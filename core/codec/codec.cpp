// Codec: what most codecs have in common.
#include "core/codec/codec.hpp"

#include <numeric>

#include "core/model/tiles.hpp"

namespace penstock {

// Runs in row-major order: whole planes or rows as far as they fit.
Dims Codec::chunk_of(const Dataset& dataset, int64_t bytes) const {
  Dims chunk = Tiles(dataset, unit_of(dataset, bytes), bytes).extents();
  int cut = 0;  // the dimension in which a chunk ends
  while (cut < chunk.rank() - 1 && chunk[cut] == 1) ++cut;
  const int64_t step = multiple() / std::gcd(multiple(), elements(chunk) / chunk[cut]);
  if (chunk[cut] < dataset.shape[cut] && chunk[cut] > step) chunk[cut] -= chunk[cut] % step;
  return chunk;
}

}  // namespace penstock
