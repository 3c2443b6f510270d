// Moving: slices of random windows against brute force, for every element size, stride and byte swap.
#include "core/transport/move.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "core/model/catalogue.hpp"

namespace penstock {
namespace {

struct Case {
  Piece piece;
  std::vector<std::byte> memory;
  std::vector<std::byte> file;  // of the whole dataset; 0xEE where nothing is selected
};

// A random box of a random array, strided in memory by a gap after each row and, sometimes, after each element.
Case random_case(std::mt19937& random) {
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  static constexpr struct {
    int64_t size, swap;
  } kinds[] = {{1, 0}, {2, 2}, {4, 4}, {8, 8}, {8, 0}, {16, 8}, {8, 4}, {5, 0}, {3, 0}, {16, 0}};
  const auto kind = kinds[draw(0, 9)];
  const int rank = static_cast<int>(draw(1, 3));
  Box box;
  Dims shape;
  for (int d = 0; d < rank; ++d) {
    shape.push_back(draw(1, 9));
    box.start.push_back(draw(0, shape[d] - 1));
    box.count.push_back(draw(1, shape[d] - box.start[d]));
  }
  Memory memory{draw(0, 3), Dims::filled(rank, 0)};
  int64_t step = draw(1, 2);
  for (int d = rank - 1; d >= 0; --d) {
    memory.stride[d] = step;
    step = step * box.count[d] + draw(0, 2);
  }
  Case c;
  c.memory.resize(static_cast<size_t>((step + 8) * kind.size));
  for (auto& b : c.memory) b = static_cast<std::byte>(draw(0, 255));
  const int64_t row = elements(shape) / shape[0] * kind.size, apart = draw(0, 1) * (row + draw(0, 9));
  c.file.assign(static_cast<size_t>(shape[0] * std::max(row, apart)), std::byte{0xEE});
  c.piece = {0, draw(0, 40), kind.size, kind.swap, Selection::of_box(shape, box, memory), c.memory.data(), apart};
  for (int64_t e = 0; e < elements(shape); ++e) {
    int64_t rest = e, at = memory.offset;
    bool inside = true;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t i = rest % shape[d] - box.start[d];
      rest /= shape[d];
      inside = inside && i >= 0 && i < box.count[d];
      at += i * memory.stride[d];
    }
    if (!inside) continue;
    for (int64_t b = 0; b < kind.size; ++b) {
      const int64_t unit = std::max<int64_t>(1, kind.swap);
      const int64_t source = kind.swap > 1 ? b / unit * unit + (unit - 1 - b % unit) : b;
      const int64_t in_file = apart == 0 ? e * kind.size : e * kind.size / row * apart + e * kind.size % row;
      c.file[static_cast<size_t>(in_file + b)] = c.memory[static_cast<size_t>(at * kind.size + source)];
    }
  }
  return c;
}

TEST(Move, WindowsOfAnyCutGiveTheSameBytes) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    Case c = random_case(random);
    const auto end = static_cast<int64_t>(c.file.size()) + c.piece.address;
    std::vector<std::byte> out(c.file.size(), std::byte{0xEE});
    const int64_t window = std::uniform_int_distribution<int64_t>(1, 64)(random);
    for (int64_t begin = 0; begin < end; begin += window) {
      int64_t bytes = 0;
      SliceCursor cursor(c.piece, begin, std::min(end, begin + window));
      for (Slice slice; cursor.next(slice); bytes += slice.bytes) {
        ASSERT_GE(slice.address, begin);
        ASSERT_LE(slice.address + slice.bytes, begin + window);
        copy_slice(c.piece, slice, out.data() + (slice.address - c.piece.address), Direction::write);
      }
      ASSERT_EQ(bytes, bytes_in(c.piece, begin, std::min(end, begin + window))) << "seed " << seed;
    }
    ASSERT_EQ(out, c.file) << "seed " << seed;
  }
}

TEST(Move, ReadingPutsBackWhatWritingTook) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    Case c = random_case(random);
    const std::vector<std::byte> original = c.memory;
    // Clear exactly the selected elements, then read them back in windows.
    const int64_t end = static_cast<int64_t>(c.file.size()) + c.piece.address;
    std::vector<std::byte> zeros(c.file.size());
    SliceCursor all(c.piece, 0, end);
    for (Slice slice; all.next(slice);) copy_slice(c.piece, slice, zeros.data(), Direction::read);
    for (int64_t begin = 0; begin < end; begin += 7) {
      SliceCursor cursor(c.piece, begin, std::min(end, begin + 7));
      for (Slice slice; cursor.next(slice);)
        copy_slice(c.piece, slice, c.file.data() + (slice.address - c.piece.address), Direction::read);
    }
    ASSERT_EQ(c.memory, original) << "seed " << seed;
  }
}

}  // namespace
}  // namespace penstock
