// Moving the elements of a piece between memory and flat buffers.
#include "core/transport/move.hpp"

#include <algorithm>
#include <cstring>

#include "core/transport/swap.hpp"

namespace penstock {
namespace {

// Elements of one row of the first dimension, where rows lie apart.
int64_t row_elements(const Piece& piece) {
  int64_t n = 1;
  for (int d = 1; d < piece.selection.shape().rank(); ++d) n *= piece.selection.shape()[d];
  return n;
}

int64_t address_of(const Piece& piece, int64_t element) {
  if (piece.row_stride == 0) return piece.address + element * piece.element_bytes;
  const int64_t row = row_elements(piece);
  return piece.address + element / row * piece.row_stride + element % row * piece.element_bytes;
}

// The first element that begins at ADDRESS or behind it.
int64_t element_ceiling(const Piece& piece, int64_t address) {
  if (address <= piece.address) return 0;
  const int64_t at = address - piece.address, size = piece.element_bytes;
  if (piece.row_stride == 0) return (at - 1) / size + 1;
  const int64_t row = row_elements(piece), inside = at % piece.row_stride;
  return at / piece.row_stride * row + std::min(row, (inside + size - 1) / size);
}

// COUNT elements of UNITS values of type T each, FLAT being dense and elements in memory STRIDE apart. Dense swaps go
// to the vectorised kernels of swap.cpp.
template <typename T, int units, bool swap, Direction direction>
void copy_strided(std::byte* flat, std::byte* memory, int64_t stride, int64_t count) {
  constexpr int64_t size = units * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    std::byte* in_memory = memory + i * stride * size;
    std::byte* in_file = flat + i * size;
    T value[units];
    std::memcpy(value, direction == Direction::write ? in_memory : in_file, sizeof value);
    if constexpr (swap)
      for (T& v : value) v = byte_swapped(v);
    std::memcpy(direction == Direction::write ? in_file : in_memory, value, sizeof value);
  }
}

template <typename T, int units, bool swap>
void copy_elements(std::byte* flat, std::byte* memory, int64_t stride, int64_t count, Direction direction) {
  const bool writing = direction == Direction::write;
  if (swap && stride == 1) return swap_dense<T>(writing ? flat : memory, writing ? memory : flat, count * units);
  if (writing) return copy_strided<T, units, swap, Direction::write>(flat, memory, stride, count);
  copy_strided<T, units, swap, Direction::read>(flat, memory, stride, count);
}

// Any element size and swap unit, from byte FROM to byte TO of the elements that begin at MEMORY.
void copy_bytes(const Piece& piece, std::byte* flat, std::byte* memory, int64_t stride, int64_t from, int64_t to,
                Direction direction) {
  const int64_t size = piece.element_bytes, unit = std::max<int64_t>(piece.swap_bytes, 1);
  for (int64_t b = from; b < to; ++b) {
    const int64_t in_element = b % size;
    const int64_t swapped = in_element / unit * unit + (unit - 1 - in_element % unit);
    std::byte& in_memory = memory[b / size * stride * size + (piece.swap_bytes > 1 ? swapped : in_element)];
    std::byte& in_file = flat[b - from];
    if (direction == Direction::write)
      in_file = in_memory;
    else
      in_memory = in_file;
  }
}

void copy_whole(const Piece& piece, std::byte* flat, std::byte* memory, int64_t stride, int64_t count,
                Direction direction) {
  const int64_t size = piece.element_bytes, unit = piece.swap_bytes;
  if (size == 8 && unit == 8) return copy_elements<uint64_t, 1, true>(flat, memory, stride, count, direction);
  if (size == 4 && unit == 4) return copy_elements<uint32_t, 1, true>(flat, memory, stride, count, direction);
  if (size == 2 && unit == 2) return copy_elements<uint16_t, 1, true>(flat, memory, stride, count, direction);
  if (size == 16 && unit == 8) return copy_elements<uint64_t, 2, true>(flat, memory, stride, count, direction);
  if (size == 8 && unit == 4) return copy_elements<uint32_t, 2, true>(flat, memory, stride, count, direction);
  if (unit <= 1) {
    switch (size) {
      case 1: return copy_elements<uint8_t, 1, false>(flat, memory, stride, count, direction);
      case 2: return copy_elements<uint16_t, 1, false>(flat, memory, stride, count, direction);
      case 4: return copy_elements<uint32_t, 1, false>(flat, memory, stride, count, direction);
      case 8: return copy_elements<uint64_t, 1, false>(flat, memory, stride, count, direction);
      case 16: return copy_elements<uint64_t, 2, false>(flat, memory, stride, count, direction);
      default: break;
    }
  }
  copy_bytes(piece, flat, memory, stride, 0, count * piece.element_bytes, direction);
}

}  // namespace

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
    const int64_t whole = piece.selection.rank_of(element);
    const int64_t partial = std::max<int64_t>(address - address_of(piece, element), 0);
    if (partial == 0) return whole * piece.element_bytes;
    return whole * piece.element_bytes + (piece.selection.rank_of(element + 1) - whole) * partial;
  };
  return below(end) - below(begin);
}

int64_t first_address(const Piece& piece) { return address_of(piece, piece.selection.first()); }
int64_t last_address(const Piece& piece) {
  const int64_t last = piece.selection.last();
  return last == 0 ? piece.address : address_of(piece, last - 1) + piece.element_bytes;
}

void copy_slice(const Piece& piece, const Slice& slice, std::byte* flat, Direction direction) {
  const int64_t size = piece.element_bytes;
  std::byte* memory = piece.memory + slice.memory * size;
  if (slice.stride == 1 && piece.swap_bytes <= 1) {
    std::byte* at = memory + slice.skip;
    if (direction == Direction::write)
      std::memcpy(flat, at, static_cast<size_t>(slice.bytes));
    else
      std::memcpy(at, flat, static_cast<size_t>(slice.bytes));
    return;
  }
  const int64_t from = slice.skip, to = slice.skip + slice.bytes;
  const int64_t first = (from + size - 1) / size, last = to / size;  // whole elements
  if (first > last) return copy_bytes(piece, flat, memory, slice.stride, from, to, direction);
  if (first * size > from) copy_bytes(piece, flat, memory, slice.stride, from, first * size, direction);
  copy_whole(piece, flat + (first * size - from), memory + first * slice.stride * size, slice.stride, last - first,
             direction);
  if (to > last * size)
    copy_bytes(piece, flat + (last * size - from), memory + last * slice.stride * size, slice.stride, 0,
               to - last * size, direction);
}

void copy_window(const Piece& piece, AddressRange range, std::byte* window, Direction direction) {
  SliceCursor cursor(piece, range.begin, range.end);
  for (Slice slice; cursor.next(slice);) copy_slice(piece, slice, window + (slice.address - range.begin), direction);
}

std::byte* copy_packed(const Piece& piece, AddressRange range, std::byte* flat, Direction direction) {
  SliceCursor cursor(piece, range.begin, range.end);
  for (Slice slice; cursor.next(slice); flat += slice.bytes) copy_slice(piece, slice, flat, direction);
  return flat;
}

std::byte* copy_between(const Piece& piece, AddressRange range, std::byte* flat, std::byte* window,
                        Direction direction) {
  SliceCursor cursor(piece, range.begin, range.end);
  for (Slice slice; cursor.next(slice); flat += slice.bytes) {
    std::byte* at = window + (slice.address - range.begin);
    std::memcpy(direction == Direction::write ? at : flat, direction == Direction::write ? flat : at,
                static_cast<size_t>(slice.bytes));
  }
  return flat;
}

}  // namespace penstock
