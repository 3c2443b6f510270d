// Boxes: arithmetic on boxes and runs.
#include "core/model/boxes.hpp"

#include <algorithm>

#include "core/model/catalogue.hpp"

namespace penstock {

void boxes_of_run(const Dims& shape, int64_t offset, int64_t length, std::vector<Box>& boxes) {
  const int rank = shape.rank();
  while (length > 0) {
    int64_t step = 1;
    int d = rank - 1;
    // The slowest dimension whose whole rows fit from here.
    while (d > 0 && offset % (step * shape[d]) == 0 && length >= step * shape[d]) step *= shape[d--];
    const int64_t rows = d < 0 ? 1 : std::min(length / step, shape[d] - offset / step % shape[d]);
    Box box{coordinates(shape, offset), Dims::filled(rank, 1)};
    if (d >= 0) box.count[d] = rows;
    for (int k = d + 1; k < rank; ++k) box.count[k] = shape[k];
    boxes.push_back(box);
    offset += rows * step;
    length -= rows * step;
  }
}

void cut_box(const Box& box, int64_t most, std::vector<Box>& boxes) {
  const int64_t count = elements(box.count);
  if (count <= std::max<int64_t>(most, 1)) {
    if (count > 0) boxes.push_back(box);
    return;
  }
  int d = 0;
  while (box.count[d] == 1) ++d;
  Box half = box;
  half.count[d] = box.count[d] / 2;
  cut_box(half, most, boxes);
  half.start[d] += half.count[d];
  half.count[d] = box.count[d] - half.count[d];
  cut_box(half, most, boxes);
}

}  // namespace penstock
