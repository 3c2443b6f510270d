// Tiles: their extents, boxes, and which of them a selection concerns.
#include "core/model/tiles.hpp"

#include <algorithm>
#include <set>

#include "core/model/boxes.hpp"

namespace penstock {
namespace {

Dims clipped(Dims extents, const Dims& shape) {
  for (int d = 0; d < shape.rank(); ++d)
    extents[d] = std::clamp<int64_t>(extents[d], 1, std::max<int64_t>(1, shape[d]));
  return extents;
}

}  // namespace

Tiles::Tiles(const Dataset& dataset, const Dims& unit, int64_t most)
    : shape_(dataset.shape), extents_(clipped(unit, dataset.shape)), counts_(dataset.shape) {
  const int64_t size = penstock::bytes(dataset.type);
  for (int d = shape_.rank() - 1; d >= 0; --d) {
    const int64_t wanted = std::max<int64_t>(1, most / (elements(extents_) * size));
    const int64_t there = (shape_[d] + extents_[d] - 1) / extents_[d];
    extents_[d] =
        std::min(std::max<int64_t>(1, shape_[d]), extents_[d] * std::min(wanted, std::max<int64_t>(1, there)));
    if (extents_[d] < shape_[d]) break;
  }
  for (int d = 0; d < shape_.rank(); ++d) counts_[d] = (shape_[d] + extents_[d] - 1) / extents_[d];
  bytes_ = elements(extents_) * size;
}

int64_t Tiles::count() const { return elements(counts_); }

Box Tiles::box(int64_t tile) const {
  Box box{Dims::filled(shape_.rank(), 0), extents_};
  for (int d = shape_.rank() - 1; d >= 0; tile /= counts_[d--]) {
    box.start[d] = tile % counts_[d] * extents_[d];
    box.count[d] = std::min(extents_[d], shape_[d] - box.start[d]);
  }
  return box;
}

std::vector<int64_t> Tiles::of(const Selection& selection) const {
  std::vector<Box> boxes;
  if (selection.is_box())
    boxes.push_back(selection.box());
  else
    for (const MemoryRun& run : selection.runs()) boxes_of_run(shape_, run.offset, run.length, boxes);
  std::set<int64_t> found;
  for (const Box& box : boxes) {
    if (elements(box.count) == 0) continue;
    std::vector<int64_t> tiles{0};  // of the first dimensions
    for (int d = 0; d < shape_.rank(); ++d) {
      std::vector<int64_t> longer;
      for (const int64_t tile : tiles)
        for (int64_t i = box.start[d] / extents_[d]; i * extents_[d] < box.start[d] + box.count[d]; ++i)
          longer.push_back(tile * counts_[d] + i);
      tiles = std::move(longer);
    }
    found.insert(tiles.begin(), tiles.end());
  }
  return {found.begin(), found.end()};
}

}  // namespace penstock
