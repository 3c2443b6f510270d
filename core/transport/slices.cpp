// SliceCursor, and arithmetic on the addresses of a piece's elements.
#include "core/transport/move.hpp"

#include <algorithm>

namespace penstock {
namespace {

int64_t address_of(const Piece& piece, int64_t element) {
  if (piece.row_stride == 0) return piece.address + element * piece.element_bytes;
  const int64_t row = row_elements(piece);
  return piece.address + element / row * piece.row_stride + element % row * piece.element_bytes;
}

// The first element that begins at or after ADDRESS.
int64_t element_ceiling(const Piece& piece, int64_t address) {
  if (address <= piece.address) return 0;
  const int64_t at = address - piece.address, size = piece.element_bytes;
  if (piece.row_stride == 0) return (at - 1) / size + 1;
  const int64_t row = row_elements(piece), inside = at % piece.row_stride;
  return at / piece.row_stride * row + std::min(row, (inside + size - 1) / size);
}

}  // namespace

int64_t row_elements(const Piece& piece) {
  int64_t n = 1;
  for (int d = 1; d < piece.selection.shape().rank(); ++d) n *= piece.selection.shape()[d];
  return n;
}

int64_t element_floor(const Piece& piece, int64_t address) {
  if (address <= piece.address) return 0;
  const int64_t at = address - piece.address;
  if (piece.row_stride == 0) return at / piece.element_bytes;
  const int64_t row = row_elements(piece), inside = at % piece.row_stride;
  return at / piece.row_stride * row + std::min(row, inside / piece.element_bytes);
}

SliceCursor::SliceCursor(const Piece& piece, int64_t begin, int64_t end)
    : piece_(piece),
      begin_(begin),
      end_(end),
      row_(piece.row_stride == 0 ? INT64_MAX : row_elements(piece)),
      cursor_(piece.selection, element_floor(piece, begin), element_ceiling(piece, end)) {}

bool SliceCursor::next(Slice& slice) {
  if (rest_.length == 0 && !cursor_.next(rest_)) return false;
  const int64_t address = address_of(piece_, rest_.offset);
  const int64_t length = std::min(rest_.length, row_ - rest_.offset % row_);
  const int64_t from = std::max(address, begin_);
  const int64_t to = std::min(address + length * piece_.element_bytes, end_);
  slice = {from, to - from, rest_.memory, rest_.stride, from - address};
  rest_.offset += length;
  rest_.memory += length * rest_.stride;
  rest_.length -= length;
  return true;
}

int64_t bytes_in(const Piece& piece, int64_t begin, int64_t end) {
  const auto below = [&](int64_t address) {
    const int64_t element = element_floor(piece, address);
    const int64_t whole = piece.selection.count_below(element);
    const int64_t partial = std::max<int64_t>(address - address_of(piece, element), 0);
    if (partial == 0) return whole * piece.element_bytes;
    return whole * piece.element_bytes + (piece.selection.count_below(element + 1) - whole) * partial;
  };
  return below(end) - below(begin);
}

int64_t first_address(const Piece& piece) { return address_of(piece, piece.selection.first()); }
int64_t last_address(const Piece& piece) {
  const int64_t last = piece.selection.last();
  return last == 0 ? piece.address : address_of(piece, last - 1) + piece.element_bytes;
}

}  // namespace penstock
