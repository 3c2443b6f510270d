// Boxes: converts runs to boxes and divides large boxes.
#pragma once

#include <cstdint>
#include <vector>

#include <penstock/decomposition.hpp>

namespace penstock {

// Adds the boxes, in ascending order, that cover LENGTH elements from linear element OFFSET of SHAPE.
void boxes_of_run(const Dims& shape, int64_t offset, int64_t length, std::vector<Box>& boxes);

// Adds BOX, divided along its slowest dimensions so that no piece has more than MOST elements.
void cut_box(const Box& box, int64_t most, std::vector<Box>& boxes);

}  // namespace penstock
