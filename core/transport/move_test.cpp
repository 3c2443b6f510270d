// Tests of moving: slices of random windows against brute force, and copies in planes against slices, byte by byte.
#include "core/transport/move.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "core/model/catalogue.hpp"
#include "core/transport/kernels.hpp"

namespace penstock {
namespace {

struct Case {
  Piece piece;
  std::vector<std::byte> memory;
  std::vector<std::byte> file;  // of the whole dataset; 0xEE for unselected elements
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

// Bytes of a piece in a range, individually, as found by SliceCursor.
struct Place {
  int64_t address = 0;
  size_t memory = 0;  // byte in the piece's memory
};

std::vector<Place> places(const Piece& piece, AddressRange range) {
  std::vector<Place> found;
  const int64_t size = piece.element_bytes, unit = std::max<int64_t>(1, piece.swap_bytes);
  SliceCursor cursor(piece, range.begin, range.end);
  for (Slice slice; cursor.next(slice);)
    for (int64_t i = 0; i < slice.bytes; ++i) {
      const int64_t at = slice.skip + i, b = at % size;
      const int64_t in_element = piece.swap_bytes > 1 ? b / unit * unit + (unit - 1 - b % unit) : b;
      found.push_back(
          {slice.address + i, static_cast<size_t>((slice.memory + at / size * slice.stride) * size + in_element)});
    }
  return found;
}

class Planes {
 public:
  explicit Planes(unsigned seed) : random_(seed) {
    static constexpr struct {
      int64_t size, swap;
    } kinds[] = {{1, 0}, {2, 2}, {4, 4}, {8, 8}, {8, 0}, {16, 8}, {8, 4}, {3, 0}, {16, 0}, {12, 4}, {12, 0}, {24, 8}};
    const auto kind = kinds[draw(0, 11)];
    piece.address = draw(0, 40);
    piece.element_bytes = kind.size;
    piece.swap_bytes = kind.swap;
    const int rank = static_cast<int>(draw(1, 4));
    Dims shape;
    for (int d = 0; d < rank; ++d) shape.push_back(draw(1, d == rank - 1 && draw(0, 3) == 0 ? 300 : 7));
    const int64_t reach = draw(0, 2) == 0 ? runs(shape) : box(shape);
    if (draw(0, 2) == 0) piece.row_stride = elements(shape) / shape[0] * kind.size + draw(0, 50);
    memory = bytes(reach * kind.size);
    piece.memory = memory.data();
  }

  int64_t draw(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  std::vector<std::byte> bytes(int64_t count) {
    std::vector<std::byte> made(static_cast<size_t>(count));
    for (auto& b : made) b = static_cast<std::byte>(random_());
    return made;
  }
  AddressRange range() {
    const int64_t end = last_address(piece);
    switch (draw(0, 2)) {
      case 0: return {0, end + draw(0, 9)};
      case 1: return {draw(0, end), draw(0, end + 9)};
      default: {
        const int64_t begin = draw(0, end);
        return {begin, begin + draw(0, 40)};
      }
    }
  }

  Piece piece;
  std::vector<std::byte> memory;

 private:
  // Memory has ghost layers around the box, or gaps between its elements. Returns the elements of memory.
  int64_t box(const Dims& shape) {
    Box box{Dims::filled(shape.rank(), 0), shape};
    Memory memory{0, Dims::filled(shape.rank(), 0)};
    int64_t step = draw(0, 3) == 0 ? draw(2, 3) : 1;
    const bool ghosts = draw(0, 1) == 1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      const int64_t start = draw(0, 2) == 0 ? draw(0, shape[d] - 1) : 0, most = shape[d] - start;
      const int64_t count = draw(0, 2) == 0 ? draw(1, most) : most, before = ghosts ? draw(0, 2) : 0;
      box.start[d] = start;
      box.count[d] = count;
      memory.stride[d] = step;
      memory.offset += before * step;
      step *= before + count + (ghosts ? draw(0, 2) : 0);
    }
    piece.selection = Selection::of_box(shape, box, memory);
    return step;
  }

  int64_t runs(const Dims& shape) {
    std::vector<Run> list;
    int64_t reach = 0;
    const int64_t longest = draw(1, 100);
    for (int64_t offset = draw(0, 3); offset < elements(shape);) {
      const int64_t length = draw(1, std::min(longest, elements(shape) - offset));
      list.push_back({offset, length});
      reach += length;
      offset += length + draw(0, 3);
    }
    if (draw(0, 1) == 1) std::shuffle(list.begin(), list.end(), random_);
    piece.selection = Selection::of_runs(shape, list);
    return reach;
  }

  std::mt19937 random_;
};

// Long rows are copied in another way at some distances, modulo a page: core/base/copy.hpp.
TEST(Kernels, LongRowsAreTheSameAtAnyDistance) {
  constexpr int64_t rows = 3, step = 6000, room = 3 * step + 4096;
  constexpr size_t size = (room + 4095) / 4096 * 4096 + 4096;
  const auto page_aligned = [] {
    return std::unique_ptr<std::byte, decltype(&std::free)>(static_cast<std::byte*>(std::aligned_alloc(4096, size)),
                                                            &std::free);
  };
  const auto from_memory = page_aligned(), to_memory = page_aligned();
  const std::span from(from_memory.get(), room), to(to_memory.get(), room);
  for (size_t i = 0; i < from.size(); ++i) from[i] = std::byte(i * 7 + i / 256);
  for (const int64_t bytes : {1025, 1040, 4096, 4111, 5999})
    for (const int64_t away : {0, 1, 16, 32, 63, 64, 4080}) {
      std::ranges::fill(to, std::byte{0xEE});
      copy_rows({to.data() + away, from.data(), rows, bytes, step, step}, 0);
      for (int64_t row = 0; row < rows; ++row) {
        const std::byte* const is = to.data() + away + row * step;
        ASSERT_EQ(std::memcmp(is, from.data() + row * step, static_cast<size_t>(bytes)), 0) << bytes << " " << away;
        ASSERT_EQ(is[bytes], std::byte{0xEE}) << bytes << " " << away;
      }
    }
}

TEST(Move, PlanesGoWhereTheirBytesGoOneByOne) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Planes c(seed);
    const AddressRange range = c.range();
    const auto found = places(c.piece, range);
    const int64_t span = std::max<int64_t>(0, range.end - range.begin);
    auto window = c.bytes(span), flat = c.bytes(static_cast<int64_t>(found.size()) + 3);
    auto memory_wanted = c.memory, window_wanted = window, flat_wanted = flat;
    const auto at = [&](const Place& place) { return static_cast<size_t>(place.address - range.begin); };

    // Memory to window, memory to packed; then packed, from other bytes, to window.
    for (size_t i = 0; i < found.size(); ++i) flat_wanted[i] = window_wanted[at(found[i])] = c.memory[found[i].memory];
    copy_window(c.piece, range, window.data(), Direction::write);
    ASSERT_EQ(window, window_wanted) << "seed " << seed;
    ASSERT_EQ(copy_packed(c.piece, range, flat.data(), Direction::write) - flat.data(), std::ssize(found));
    ASSERT_EQ(flat, flat_wanted) << "seed " << seed;
    flat = c.bytes(std::ssize(flat));
    for (size_t i = 0; i < found.size(); ++i) window_wanted[at(found[i])] = flat[i];
    ASSERT_EQ(copy_between(c.piece, range, flat.data(), window.data(), Direction::write) - flat.data(),
              std::ssize(found));
    ASSERT_EQ(window, window_wanted) << "seed " << seed;
    ASSERT_EQ(c.memory, memory_wanted) << "seed " << seed;
  }
}

TEST(Move, PlanesComeFromWhereTheirBytesComeOneByOne) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Planes c(seed);
    const AddressRange range = c.range();
    const auto found = places(c.piece, range);
    const int64_t span = std::max<int64_t>(0, range.end - range.begin);
    auto window = c.bytes(span), flat = c.bytes(static_cast<int64_t>(found.size()) + 3);
    auto memory_wanted = c.memory, flat_wanted = flat;
    const auto window_wanted = window;
    const auto at = [&](const Place& place) { return static_cast<size_t>(place.address - range.begin); };

    for (const Place& place : found) memory_wanted[place.memory] = window[at(place)];
    copy_window(c.piece, range, window.data(), Direction::read);
    ASSERT_EQ(c.memory, memory_wanted) << "seed " << seed;
    for (size_t i = 0; i < found.size(); ++i) flat_wanted[i] = window[at(found[i])];
    ASSERT_EQ(copy_between(c.piece, range, flat.data(), window.data(), Direction::read) - flat.data(),
              std::ssize(found));
    ASSERT_EQ(flat, flat_wanted) << "seed " << seed;
    flat_wanted = flat = c.bytes(std::ssize(flat));
    for (size_t i = 0; i < found.size(); ++i) memory_wanted[found[i].memory] = flat[i];
    ASSERT_EQ(copy_packed(c.piece, range, flat.data(), Direction::read) - flat.data(), std::ssize(found));
    ASSERT_EQ(c.memory, memory_wanted) << "seed " << seed;
    ASSERT_EQ(window, window_wanted) << "seed " << seed;
    ASSERT_EQ(flat, flat_wanted) << "seed " << seed;
  }
}

}  // namespace
}  // namespace penstock
