// Survey: which boxes the nodes have of the large datasets.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/dims.hpp>

#include "core/model/piece.hpp"
#include "core/transport/two_phase/order.hpp"

namespace penstock {

// Which boxes the nodes have of the largest datasets. A rank knows its own pieces; reductions by maximum make the rest
// known: one among the ranks of a node, and two among all. All functions are local.
class Survey {
 public:
  static constexpr int most_shapes = 4;
  using Bounds = std::array<int64_t, int64_t{2} * most_shapes * max_rank>;
  using Extents = std::array<int64_t, int64_t{2} * most_shapes * max_rank + 2>;

  // Nothing is surveyed.
  Survey() = default;
  // DATASETS of the movement, as this rank knows them, and its PIECES.
  Survey(std::span<const WholeDataset> datasets, std::span<const Piece> pieces);
  // To be reduced among the ranks of a node: its bounds.
  Bounds bounds() const;
  // To be reduced among all ranks.
  Extents extents(const Bounds& of_node) const;
  // For each shape how many cells there must be in each dimension if the boxes of NODES nodes are a grid; empty for one
  // of which they are none. Empty if not all ranks know the same datasets. The same on all ranks.
  std::vector<Dims> cells(const Extents& of_all, int64_t nodes) const;
  // To be reduced among all ranks: where the boxes of node number NODE begin in such a grid.
  std::vector<int64_t> starts(std::span<const Dims> cells, const Bounds& of_node, int64_t node) const;
  // Whether STARTS of earlier boxes, with so many CELLS, are those of node number NODE now.
  bool confirms(std::span<const Dims> cells, std::span<const int64_t> starts, const Bounds& of_node,
                int64_t node) const;
  // The grids, with one node in each cell, or with several nodes that follow each other, where one would have shorter
  // rows than wanted. Empty if most of the data has no such grid. The same on all ranks.
  std::vector<NodeGrid> grids(std::span<const Dims> cells, std::span<const int64_t> of_all, RowsWanted rows) const;
  // Of these datasets, divided so.
  int64_t key(std::span<const Dims> cells) const;

 private:
  struct Shape {
    Dims shape;
    std::vector<NodeGrid::Field> fields;
    Dims start, end;  // of the smallest box around this rank's boxes; empty without one
    int64_t bytes() const;
    bool has(int64_t address) const;
    void contain(const Box& box);
  };
  std::vector<Shape> shapes_;  // by bytes
};

}  // namespace penstock
