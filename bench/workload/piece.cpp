// Piece: locates rows between ghost cells.
#include "bench/workload/piece.hpp"

#include <algorithm>

namespace penstock::bench {

namespace {

Dims padded(const Dims& count, int ghosts) {
  Dims shape = count;
  for (int d = 0; d < shape.rank(); ++d) shape[d] += int64_t{2} * ghosts;
  return shape;
}

}  // namespace

Memory Piece::memory() const {
  if (ghosts == 0) return {};
  const Dims& count = part.box_list()[0].count;
  return Memory::inside(padded(count, ghosts), Dims::filled(count.rank(), ghosts));
}

int64_t memory_elements(const Decomposition& part, int ghosts) {
  if (ghosts == 0 || part.elements() == 0) return part.elements();
  int64_t product = 1;
  for (const int64_t extent : padded(part.box_list()[0].count, ghosts)) product *= extent;
  return product;
}

int64_t row_in_memory(const Piece& piece, int64_t row) {
  const Dims& count = piece.part.box_list()[0].count;
  const int last = count.rank() - 1;
  int64_t at = piece.ghosts, stride = count[last] + int64_t{2} * piece.ghosts;
  for (int d = last - 1; d >= 0; --d) {
    at += (row % count[d] + piece.ghosts) * stride;
    row /= count[d];
    stride *= count[d] + int64_t{2} * piece.ghosts;
  }
  return at;
}

bool ghosts_are_whole(const Piece& piece, int64_t size) {
  const std::byte* next = piece.bytes.data();
  bool whole = true;
  const auto all_ghosts = [](const std::byte* from, const std::byte* to) {
    return std::all_of(from, to, [](std::byte b) { return b == ghost_byte; });
  };
  for_each_stretch(piece, size, [&](int64_t, std::span<const std::byte> stretch) {
    whole = whole && all_ghosts(next, stretch.data());
    next = stretch.data() + stretch.size();
  });
  return whole && all_ghosts(next, piece.bytes.data() + piece.bytes.size());
}

}  // namespace penstock::bench
