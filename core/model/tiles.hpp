// Tiles: the boxes of one size into which a dataset is cut, in row-major order.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/catalogue.hpp"
#include "core/model/selection.hpp"

namespace penstock {

class Tiles {
 public:
  // Extents are multiples of UNIT's, clipped to DATASET's shape; from the last dimension on as many units as fit into
  // BYTES, at least one.
  Tiles(const Dataset& dataset, const Dims& unit, int64_t bytes);
  int64_t count() const;
  const Dims& extents() const { return extents_; }
  int64_t bytes() const { return bytes_; }  // of the largest
  Box box(int64_t tile) const;              // smaller at the dataset's edges
  // The tiles with elements of SELECTION, in ascending order.
  std::vector<int64_t> of(const Selection& selection) const;

 private:
  Dims shape_, extents_, counts_;
  int64_t bytes_;
};

}  // namespace penstock
