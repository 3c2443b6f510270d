// Boxes: the boxes that runs are made of, and large boxes in pieces.
#pragma once

#include <cstdint>
#include <vector>

#include <penstock/decomposition.hpp>

namespace penstock {

// Adds the boxes, in ascending order, that LENGTH elements from linear element OFFSET of SHAPE are made of.
void boxes_of_run(const Dims& shape, int64_t offset, int64_t length, std::vector<Box>& boxes);

// Adds BOX cut along its slowest dimensions, so that no piece has over MOST elements.
void cut_box(const Box& box, int64_t most, std::vector<Box>& boxes);

}  // namespace penstock
