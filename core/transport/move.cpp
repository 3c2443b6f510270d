// Moving the elements of a piece between memory and flat buffers.
#include "core/transport/move.hpp"

#include <algorithm>
#include <cstring>

namespace penstock {
namespace {

int64_t element_floor(const Piece& piece, int64_t address) {
  return address <= piece.address ? 0 : (address - piece.address) / piece.element_bytes;
}

int64_t element_ceiling(const Piece& piece, int64_t address) {
  return address <= piece.address ? 0 : (address - piece.address - 1) / piece.element_bytes + 1;
}

// Copies COUNT elements of one fixed size, FLAT being dense; the compiler makes vectors of the dense and swapped cases.
template <typename T, bool swap>
void copy_elements(std::byte* flat, std::byte* memory, int64_t stride, int64_t count, Direction direction) {
  for (int64_t i = 0; i < count; ++i) {
    std::byte* in_memory = memory + i * stride * static_cast<int64_t>(sizeof(T));
    std::byte* in_file = flat + i * static_cast<int64_t>(sizeof(T));
    T value;
    std::memcpy(&value, direction == Direction::write ? in_memory : in_file, sizeof(T));
    if constexpr (swap && sizeof(T) == 2) value = __builtin_bswap16(value);
    if constexpr (swap && sizeof(T) == 4) value = __builtin_bswap32(value);
    if constexpr (swap && sizeof(T) == 8) value = __builtin_bswap64(value);
    std::memcpy(direction == Direction::write ? in_file : in_memory, &value, sizeof(T));
  }
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
  const bool swap = piece.swap_bytes > 1;
  if (piece.element_bytes == 8 && piece.swap_bytes == 8)
    return copy_elements<uint64_t, true>(flat, memory, stride, count, direction);
  if (piece.element_bytes == 4 && piece.swap_bytes == 4)
    return copy_elements<uint32_t, true>(flat, memory, stride, count, direction);
  if (piece.element_bytes == 2 && piece.swap_bytes == 2)
    return copy_elements<uint16_t, true>(flat, memory, stride, count, direction);
  if (!swap) {
    switch (piece.element_bytes) {
      case 1: return copy_elements<uint8_t, false>(flat, memory, stride, count, direction);
      case 2: return copy_elements<uint16_t, false>(flat, memory, stride, count, direction);
      case 4: return copy_elements<uint32_t, false>(flat, memory, stride, count, direction);
      case 8: return copy_elements<uint64_t, false>(flat, memory, stride, count, direction);
      case 16: return copy_elements<unsigned __int128, false>(flat, memory, stride, count, direction);
      default: break;
    }
  }
  copy_bytes(piece, flat, memory, stride, 0, count * piece.element_bytes, direction);
}

}  // namespace

SliceCursor::SliceCursor(const Piece& piece, int64_t begin, int64_t end)
    : piece_(piece),
      begin_(begin),
      end_(end),
      cursor_(piece.selection, element_floor(piece, begin), element_ceiling(piece, end)) {}

bool SliceCursor::next(Slice& slice) {
  Segment segment;
  if (!cursor_.next(segment)) return false;
  const int64_t address = piece_.address + segment.offset * piece_.element_bytes;
  const int64_t from = std::max(address, begin_);
  const int64_t to = std::min(address + segment.length * piece_.element_bytes, end_);
  slice = {from, to - from, segment.memory, segment.stride, from - address};
  return true;
}

int64_t bytes_in(const Piece& piece, int64_t begin, int64_t end) {
  const auto below = [&](int64_t address) {
    const int64_t element = element_floor(piece, address);
    const int64_t whole = piece.selection.rank_of(element);
    const int64_t partial = std::max<int64_t>(address - piece.address, 0) % piece.element_bytes;
    if (partial == 0) return whole * piece.element_bytes;
    return whole * piece.element_bytes + (piece.selection.rank_of(element + 1) - whole) * partial;
  };
  return below(end) - below(begin);
}

int64_t first_address(const Piece& piece) { return piece.address + piece.selection.first() * piece.element_bytes; }
int64_t last_address(const Piece& piece) { return piece.address + piece.selection.last() * piece.element_bytes; }

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

}  // namespace penstock
