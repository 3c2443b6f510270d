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

// Datasets of one shape that are divided evenly into cells. Cell by cell, in row-major order, one or several nodes have
// their elements.
struct NodeGrid {
  struct Field {
    int64_t address = 0;  // of its first element
    int64_t element_bytes = 1;
    bool operator==(const Field&) const = default;
  };
  Dims shape, cells;          // elements, and cells, in each dimension
  std::vector<Field> fields;  // by address; elements in row-major order

  bool operator==(const NodeGrid&) const = default;
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

// A bijection between the addresses of a range and as many places: for each cell what the fields have in it, one field
// after another, each in the order of the file; then what is in no field. Places begin where the addresses begin.
class Order {
 public:
  Order() = default;  // as in the files: the place is the address
  // Fields lie in ALL and do not overlap; GRIDS have equally many cells.
  Order(AddressRange all, std::vector<NodeGrid> grids);

  bool operator==(const Order& other) const { return all_ == other.all_ && grids_ == other.grids_; }
  bool any() const { return !grids_.empty(); }
  int64_t cells() const { return any() ? grids_.front().cell_count() : 1; }
  const std::vector<NodeGrid>& grids() const { return grids_; }
  int64_t shortest_row() const;
  bool is_aligned(int64_t block) const;   // all fields
  int64_t cut_gaps(int64_t block) const;  // ranges in no field that end inside a block

  // The addresses at PLACES, in the order of places; what is adjacent is one range.
  std::vector<AddressRange> addresses(AddressRange places) const;
  int64_t place_of(int64_t address) const;
  // Ranges of places with all elements of PIECE, and with the first byte of each BLOCK that has one; and possibly with
  // others.
  std::vector<AddressRange> places_near(const Piece& piece, int64_t block) const;

 private:
  // Where a field is among others.
  struct Known {
    NodeGrid::Field field;
    size_t grid = 0;
    int64_t before = 0;  // bytes of an element of all fields before it in its grid
  };

  int64_t start_of(int64_t cell) const;                      // its first place
  int64_t start_of(int64_t cell, const Known& known) const;  // the first place of its field in it
  void add_places(const Known& known, const Dims& start, const Dims& end, std::vector<AddressRange>& places) const;

  AddressRange all_;
  std::vector<NodeGrid> grids_;
  std::vector<Known> fields_;  // by address
  std::vector<AddressRange> gaps_;
  int64_t in_cells_ = 0;  // bytes
};

// Which boxes the nodes have of the largest datasets. A rank has its own pieces; one reduction among the ranks of a
// node and one among all make it known to all of them.
class Survey {
 public:
  static constexpr int most_shapes = 4;
  using Bounds = std::array<int64_t, int64_t{2} * most_shapes * max_rank>;
  using Extents = std::array<int64_t, most_shapes*(max_rank + 1) + 2>;

  // Local. PIECES of this rank.
  explicit Survey(std::span<const Piece> pieces);
  // The maxima over the ranks of a node are the node's.
  Bounds bounds() const;
  // Of node number NODE of NODES. The maxima over all nodes are those that grids() asks for.
  Extents extents(const Bounds& of_node, int64_t node, int64_t nodes) const;
  // What each node has one box of, with such rows, or several nodes that follow each other, if it is too narrow for
  // one. Empty if they have no such boxes, or if some rank has no part of these datasets. The same on all ranks.
  std::vector<NodeGrid> grids(const Extents& of_all, int64_t nodes, RowsWanted rows) const;

 private:
  struct Shape {
    NodeGrid grid;    // without cells
    Dims start, end;  // of the smallest box around this rank's boxes
  };
  std::vector<Shape> shapes_;  // by bytes
  int64_t key_ = -1;           // of all this; -1: nothing
};

}  // namespace penstock
