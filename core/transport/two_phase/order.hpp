// Order: how the bytes of a movement follow each other before they are divided among the writers: as in the files, or
// node by node, so that a writer owns what the ranks of its node have.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/dims.hpp>

#include "core/transport/move.hpp"

namespace penstock {

// Datasets of one shape that are divided into a grid of cells. Cell by cell, in row-major order, one or several nodes
// have their elements.
struct NodeGrid {
  struct Field {
    int64_t address = 0;  // of its first element
    int64_t element_bytes = 1;
    bool operator==(const Field&) const = default;
  };
  Dims shape;
  std::vector<std::vector<int64_t>> cuts;  // of each dimension: where its cells begin, and the extent
  std::vector<Field> fields;               // by address; elements in row-major order

  bool operator==(const NodeGrid&) const = default;
  int64_t cells(int d) const { return std::ssize(cuts[static_cast<size_t>(d)]) - 1; }
  int64_t cell_count() const;
  int64_t bytes() const;
  int64_t bytes(const Field& field) const;
  // Bytes of FIELD that follow each other in the file, in every cell at least.
  int64_t shortest_row(const Field& field) const;
  // Whether all rows of FIELD begin and end at multiples of BLOCK.
  bool is_aligned(const Field& field, int64_t block) const;
};

// Of at least LEAST bytes; if they end inside blocks, of two blocks at least.
struct RowsWanted {
  int64_t least = 0, block = 1;
  bool suit(const NodeGrid& grid, const NodeGrid::Field& field) const;
};

// A bijection between the addresses of a range and as many places. Cell by cell follow what the fields have in it, one
// field after another, each in the order of the file; and an even share of what is in no field, the gaps. Places begin
// where the addresses begin.
class Order {
 public:
  Order() = default;  // as in the files: the place is the address
  // GRIDS have equally many cells. Gaps are shared at multiples of BLOCK.
  Order(AddressRange all, std::vector<NodeGrid> grids, int64_t block);

  bool operator==(const Order& other) const {
    return all_ == other.all_ && grids_ == other.grids_ && block_ == other.block_;
  }
  bool any() const { return !grids_.empty(); }
  // Whether all fields lie in the range, and no two overlap. Otherwise this is no bijection, and may not be used.
  bool is_sound() const { return sound_; }
  int64_t cells() const { return any() ? grids_.front().cell_count() : 1; }
  const std::vector<NodeGrid>& grids() const { return grids_; }
  int64_t start_of(int64_t cell) const;  // its first place
  int64_t shortest_row() const;
  bool is_aligned() const { return aligned_; }  // all rows begin and end at multiples of BLOCK
  int64_t cut_gaps() const;                     // those that end inside a block

  // The addresses at PLACES, in the order of places; what is adjacent is one range.
  std::vector<AddressRange> addresses(AddressRange places) const;
  int64_t place_of(int64_t address) const;
  // Ranges of places with all elements of PIECE, and with the first byte of each BLOCK that has one; and possibly with
  // others.
  std::vector<AddressRange> places_near(const Piece& piece) const;

 private:
  // Where a field is among others.
  struct Known {
    NodeGrid::Field field;
    size_t grid = 0;
    int64_t before = 0;  // bytes of an element of all fields before it in its grid
  };
  struct Gap {
    AddressRange range;
    int64_t before = 0;  // bytes of all gaps before it
  };

  const Gap& gap_with(int64_t byte) const;                   // the gap with this byte of all gaps
  int64_t gaps_before(int64_t cell) const;                   // bytes of them
  int64_t start_of(int64_t cell, const Known& known) const;  // the first place of its field in CELL
  const Known* field_with(int64_t address) const;
  bool is_in_one_gap(AddressRange range) const;
  void add_places(const Known& known, const Dims& start, const Dims& end, std::vector<AddressRange>& places) const;
  void add_gaps(AddressRange bytes, std::vector<AddressRange>& found) const;

  AddressRange all_;
  std::vector<NodeGrid> grids_;
  int64_t block_ = 1;
  bool sound_ = true;
  bool aligned_ = true;
  std::vector<Known> fields_;                // by address
  std::vector<std::vector<Known>> by_grid_;  // by BEFORE
  std::vector<int64_t> element_bytes_;       // of all fields of each grid together
  std::vector<Gap> gaps_;                    // by address
  int64_t in_gaps_ = 0;                      // bytes
};

// Which boxes the nodes have of the largest datasets. A rank has its own pieces; reductions by maximum make the rest
// known: one among the ranks of a node, and two among all. All functions are local.
class Survey {
 public:
  static constexpr int most_shapes = 4;
  using Bounds = std::array<int64_t, int64_t{2} * most_shapes * max_rank>;
  using Extents = std::array<int64_t, int64_t{2} * most_shapes * max_rank + 2>;

  // PIECES of this rank.
  explicit Survey(std::span<const Piece> pieces);
  // To be reduced among the ranks of a node: its bounds.
  Bounds bounds() const;
  // To be reduced among all ranks.
  Extents extents(const Bounds& of_node) const;
  // For each shape how many cells there must be in each dimension if the boxes of NODES nodes are a grid; empty for one
  // of which they are none. Empty if some rank has no part of these datasets. The same on all ranks.
  std::vector<Dims> cells(const Extents& of_all, int64_t nodes) const;
  // To be reduced among all ranks: where the boxes of node number NODE begin in such a grid.
  std::vector<int64_t> starts(std::span<const Dims> cells, const Bounds& of_node, int64_t node) const;
  // The grids, with one node in each cell, or with several nodes that follow each other, where one would have shorter
  // rows than wanted. Empty if most of the data has no such grid. The same on all ranks.
  std::vector<NodeGrid> grids(std::span<const Dims> cells, std::span<const int64_t> of_all, RowsWanted rows) const;
  // Of these datasets, divided so.
  int64_t key(std::span<const Dims> cells) const;

 private:
  struct Shape {
    Dims shape;
    std::vector<NodeGrid::Field> fields;
    Dims start, end;  // of the smallest box around this rank's boxes
    int64_t bytes() const;
  };
  std::vector<Shape> shapes_;  // by bytes
};

}  // namespace penstock
