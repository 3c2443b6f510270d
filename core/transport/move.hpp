// Moving: copies the elements of a piece between memory, packed buffers and file windows; used by every transport.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/transport/transport.hpp"

namespace penstock {

// The half-open range [begin, end) of the virtual address space; its ends may lie inside elements.
struct AddressRange {
  int64_t begin = 0, end = 0;

  bool operator==(const AddressRange&) const = default;
};

// Copies between PIECE's memory and WINDOW, which holds RANGE of the address space byte for byte. Swaps bytes if
// needed.
void copy_window(const Piece& piece, AddressRange range, std::byte* window, Direction direction);
// Copies between PIECE's memory and a packed buffer of its elements in RANGE. Returns one past the last byte used.
std::byte* copy_packed(const Piece& piece, AddressRange range, std::byte* flat, Direction direction);
// Copies between such a packed buffer and a window, without the piece's memory. Direction write: flat -> window; read:
// window -> flat.
std::byte* copy_between(const Piece& piece, AddressRange range, std::byte* flat, std::byte* window,
                        Direction direction);

// BYTES consecutive bytes of the virtual address space, the part of one segment in a window. The first and last element
// may be incomplete, since a window may end inside an element.
struct Slice {
  int64_t address = 0;
  int64_t bytes = 0;
  int64_t memory = 0;  // element index of the segment's first element in the piece's memory
  int64_t stride = 1;
  int64_t skip = 0;  // bytes of the segment before this slice
};

// Iterates over the slices of a piece within [begin, end) of the virtual address space, in ascending order.
class SliceCursor {
 public:
  SliceCursor(const Piece& piece, int64_t begin, int64_t end);
  bool next(Slice& slice);

 private:
  const Piece& piece_;
  int64_t begin_, end_;
  int64_t row_;  // elements of one row
  Cursor cursor_;
  Segment rest_;  // of the cursor's segment, if rows divide it
};

// Elements of one row of the first dimension, if rows are separate.
int64_t row_elements(const Piece& piece);
// The first element of PIECE's shape, selected or not, that ends after ADDRESS.
int64_t element_floor(const Piece& piece, int64_t address);

// Bytes of PIECE within [begin, end), without iteration.
int64_t bytes_in(const Piece& piece, int64_t begin, int64_t end);
int64_t first_address(const Piece& piece);
int64_t last_address(const Piece& piece);  // one past the last

// Copies a slice from the piece's memory to FLAT (write) or back (read), and swaps bytes if needed.
void copy_slice(const Piece& piece, const Slice& slice, std::byte* flat, Direction direction);

}  // namespace penstock
