// Testing: random numbers and tilings, for this room's property tests.
#pragma once

#include <random>
#include <vector>

#include "core/model/selection.hpp"

namespace penstock::testing {

using Random = std::mt19937_64;
inline int64_t draw(Random& random, int64_t below) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(below));
}

// Boxes that tile SHAPE, of rank 1 or more.
inline std::vector<Box> random_boxes(Random& random, const Dims& shape) {
  std::vector<Box> boxes{{Dims::filled(shape.rank(), 0), shape}};
  for (int64_t tries = draw(random, 40); tries > 0; --tries) {
    const auto which = static_cast<size_t>(draw(random, std::ssize(boxes)));
    const int axis = static_cast<int>(draw(random, shape.rank()));
    if (boxes[which].count[axis] < 2) continue;
    Box rest = boxes[which];
    const int64_t at = 1 + draw(random, rest.count[axis] - 1);
    boxes[which].count[axis] = at;
    rest.start[axis] += at;
    rest.count[axis] -= at;
    boxes.push_back(rest);
  }
  return boxes;
}

}  // namespace penstock::testing
