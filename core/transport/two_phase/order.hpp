// Order: how the bytes of a movement follow each other before they are divided among the writers: as in the files, or
// node by node, so that a writer owns what the ranks of its node have.
#pragma once

#include <cstdint>
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
  // The last dimension that is divided: from there on a row of a cell is contiguous. 0 if none is.
  int row_dimension() const;
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

}  // namespace penstock
