// Subset: which points of a dataset are stored: every n-th point of a box, or the means of the blocks that divide it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/decomposition.hpp>

#include "core/model/catalogue.hpp"
#include "core/model/selection.hpp"

namespace penstock {

// START, COUNT and STEP have an extent for each dimension of SHAPE; steps are at least 1, and the box is in SHAPE.
struct Subset {
  Dims shape;  // of the whole dataset; with rows, the first extent is that of a rank's own
  Dims start;  // of the box
  Dims count;
  Dims step;          // of the points of the box that are stored, or the extents of the blocks that divide it
  bool mean = false;  // the means of blocks are stored; the last blocks may be smaller
  bool rows = false;  // the first dimension is that of ragged rows, whose number differs between ranks

  Dims stored() const;  // the shape of what is stored
  friend bool operator==(const Subset&, const Subset&) = default;
};

// "every (2, 2) from (0, 0) of (512, 512)", "means of (2, 2) of the box (100, 100) from (8, 0) of (512, 512)",
// "every (10, 1) of each rank's rows".
std::string describe(const Subset& subset);

void encode(Encoder& out, const std::optional<Subset>& subset);
std::optional<Subset> decode_subset(Decoder& in);

// Attributes of a stored dataset: penstock_subset, a text, and its numbers.
std::vector<Attribute> attributes_of(const Subset& subset);
// What CF says of means along dimensions with these NAMES: "y: x: mean".
std::string cell_methods(const Subset& subset, std::span<const std::string> names);
// The subset that such attributes of DATASET describe.
std::optional<Subset> subset_of(const Catalogue& catalogue, const std::string& dataset);

// The points of BOX that are stored, as a box of what is stored. MEMORY, that of BOX before, becomes theirs. An empty
// box starts at 0.
Box thin(const Subset& subset, const Box& box, Memory& memory);

// COUNT elements that are stored, from element FIRST of what a rank stores: STRIDE apart from element SOURCE of what it
// has, both in the order of its decomposition.
struct Kept {
  int64_t first = 0, count = 0, source = 0, stride = 1;
};
// The pieces of a box with extents COUNT of which the elements at MEMORY are stored.
std::vector<Kept> kept_of(const Dims& count, const Memory& memory);

// Boxes or runs, thinned.
struct Thinned {
  Decomposition part;
  std::vector<Kept> kept;  // in ascending order
};
Result<Thinned> thin(const Subset& subset, const Decomposition& part);

}  // namespace penstock
