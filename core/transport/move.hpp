// Moving the elements of a piece between memory, packed buffers and windows of a file: the one way of every transport.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/transport/transport.hpp"

namespace penstock {

// The half-open range [begin, end) of the virtual address space; it may cut elements.
struct AddressRange {
  int64_t begin = 0, end = 0;
};

// Between PIECE's memory and WINDOW, which holds RANGE of the address space byte for byte. Swapped on the way.
void copy_window(const Piece& piece, AddressRange range, std::byte* window, Direction direction);
// Between PIECE's memory and a packed buffer of its elements in RANGE; one past the last byte used.
std::byte* copy_packed(const Piece& piece, AddressRange range, std::byte* flat, Direction direction);
// Between such a packed buffer and a window; the piece's memory is not used. direction write: flat -> window; read:
// window -> flat.
std::byte* copy_between(const Piece& piece, AddressRange range, std::byte* flat, std::byte* window,
                        Direction direction);

// BYTES consecutive bytes of the virtual address space, the part of one segment that lies in a window. A window may
// cut an element, so the first and last element may be there in part.
struct Slice {
  int64_t address = 0;
  int64_t bytes = 0;
  int64_t memory = 0;  // element index of the segment's first element in the piece's memory
  int64_t stride = 1;
  int64_t skip = 0;  // bytes of the segment before this slice
};

// Walks the slices of a piece within [begin, end) of the virtual address space, ascending.
class SliceCursor {
 public:
  SliceCursor(const Piece& piece, int64_t begin, int64_t end);
  bool next(Slice& slice);

 private:
  const Piece& piece_;
  int64_t begin_, end_;
  int64_t row_;  // elements of one
  Cursor cursor_;
  Segment rest_;  // of the cursor's segment, where rows cut it
};

// Elements of one row of the first dimension, where rows lie apart.
int64_t row_elements(const Piece& piece);
// The first element of PIECE's shape, selected or not, that ends behind ADDRESS.
int64_t element_floor(const Piece& piece, int64_t address);

// Bytes of PIECE within [begin, end), without walking.
int64_t bytes_in(const Piece& piece, int64_t begin, int64_t end);
int64_t first_address(const Piece& piece);
int64_t last_address(const Piece& piece);  // one past

// Copies a slice from the piece's memory to FLAT (write) or back (read), swapping on the way.
void copy_slice(const Piece& piece, const Slice& slice, std::byte* flat, Direction direction);

}  // namespace penstock
