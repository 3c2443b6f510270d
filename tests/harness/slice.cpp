// Slices, and random exact tilings; nothing here rests on penstock's own arithmetic.
#include "tests/harness/slice.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/harness/values.hpp"

namespace penstock::test {

namespace {

Decomposition must(const Result<Decomposition>& part) {
  if (part) return *part;
  std::fprintf(stderr, "a test's own decomposition is refused: %s\n", part.status().message().c_str());
  std::exit(1);
}

void cut(int64_t n, int64_t blocks, int64_t block, int64_t& start, int64_t& count) {
  count = n / blocks + (block < n % blocks);
  start = block * (n / blocks) + std::min(block, n % blocks);
}

}  // namespace

int64_t product(const Dims& dims) {
  int64_t n = 1;
  for (int64_t extent : dims) n *= extent;
  return n;
}

Slice block(const Dims& shape, const Box& box) {
  return {must(Decomposition::block(shape, box.start, box.count)), {}, product(box.count), shape, {box}, {}};
}

Slice ghosted(const Dims& shape, const Box& box, int64_t ghosts) {
  Slice slice = block(shape, box);
  Dims outer, start;
  for (int i = 0; i < shape.rank(); ++i) {
    outer.push_back(box.count[i] + 2 * ghosts + 1);
    start.push_back(ghosts);
  }
  slice.memory = Memory::inside(outer, start);
  slice.room = product(outer);
  return slice;
}

Slice transposed(const Dims& shape, const Box& box, int64_t gap) {
  Slice slice = block(shape, box);
  Dims stride;
  int64_t next = gap;
  for (int i = 0; i < shape.rank(); ++i) {
    stride.push_back(next);
    next *= std::max<int64_t>(box.count[i], 1);
  }
  slice.memory = Memory::strided(stride, 2);
  slice.room = next + 2;
  return slice;
}

Slice grid(const Dims& shape, const Dims& process_grid, int rank) {
  Box box{Dims::filled(shape.rank(), 0), Dims::filled(shape.rank(), 0)};
  int64_t rest = rank;
  if (rank < product(process_grid))
    for (int i = shape.rank() - 1; i >= 0; --i) {
      cut(shape[i], process_grid[i], rest % process_grid[i], box.start[i], box.count[i]);
      rest /= process_grid[i];
    }
  return {must(Decomposition::grid(shape, process_grid, rank)), {}, product(box.count), shape, {box}, {}};
}

Slice boxes(const Dims& shape, std::span<const Box> list) {
  int64_t room = 0;
  for (const Box& box : list) room += product(box.count);
  return {must(Decomposition::boxes(shape, list)), {}, room, shape, {list.begin(), list.end()}, {}};
}

Slice runs(const Dims& shape, std::span<const Run> list) {
  int64_t room = 0;
  for (const Run& run : list) room += run.length;
  return {must(Decomposition::runs(shape, list)), {}, room, shape, {}, {list.begin(), list.end()}};
}

Slice ragged(int64_t first, int64_t rows, int64_t total, const Dims& row) {
  Dims shape{total}, start{first}, count{rows};
  for (int64_t extent : row) {
    shape.push_back(extent);
    start.push_back(0);
    count.push_back(extent);
  }
  return {must(Decomposition::ragged(rows, row)), {}, product(count), shape, {{start, count}}, {}};
}

Slice replicated(const Dims& shape) {
  return {must(Decomposition::replicated(shape)),   {}, product(shape), shape,
          {{Dims::filled(shape.rank(), 0), shape}}, {}};
}

Slice per_rank(const Dims& row, int rank, int size) {
  Slice slice = ragged(rank, 1, size, row);
  slice.part = must(Decomposition::per_rank(row));
  return slice;
}

std::vector<std::byte> filled(const Slice& slice, const ElementType& type, uint64_t seed) {
  const int64_t size = bytes(type);
  std::vector<std::byte> memory(static_cast<size_t>(slice.room * size), std::byte{0x5a});
  each_row(slice, [&](int64_t offset, int64_t length, int64_t at, int64_t stride) {
    std::byte* first = memory.data() + at * size;
    if (stride == 1) return make_elements(first, type, seed, offset, length);
    for (int64_t i = 0; i < length; ++i) make_element(first + i * stride * size, type, seed, offset + i);
  });
  return memory;
}

std::vector<std::byte> blank(const Slice& slice, const ElementType& type) {
  return std::vector<std::byte>(static_cast<size_t>(slice.room * bytes(type)), std::byte{0xa5});
}

int64_t differences(const Slice& slice, const ElementType& type, uint64_t seed, std::span<const std::byte> memory,
                    int64_t& wrong) {
  const int64_t size = bytes(type);
  std::vector<std::byte> row;
  std::vector<char> used(static_cast<size_t>(slice.room));
  int64_t count = 0;
  each_row(slice, [&](int64_t offset, int64_t length, int64_t at, int64_t stride) {
    row.resize(static_cast<size_t>(length * size));
    make_elements(row.data(), type, seed, offset, length);
    for (int64_t i = 0; i < length; ++i) used[static_cast<size_t>(at + i * stride)] = 1;
    const std::byte* first = memory.data() + at * size;
    if (stride == 1 && std::memcmp(row.data(), first, row.size()) == 0) return;
    for (int64_t i = 0; i < length; ++i)
      if (std::memcmp(row.data() + i * size, first + i * stride * size, static_cast<size_t>(size)) != 0 && count++ == 0)
        wrong = offset + i;
  });
  const bool all = std::find(used.begin(), used.end(), 0) == used.end();
  for (int64_t at = 0; !all && at < slice.room; ++at)
    for (int64_t i = 0; used[static_cast<size_t>(at)] == 0 && i < size; ++i)
      if (memory[static_cast<size_t>(at * size + i)] != std::byte{0xa5} && count++ == 0) wrong = -1;
  return count;
}

Dims process_grid(int size, int rank, bool largest_first) {
  std::vector<int> primes;
  for (int p = 2; size > 1; ++p)
    for (; size % p == 0; size /= p) primes.push_back(p);
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  for (auto p = primes.rbegin(); p != primes.rend(); ++p) *std::min_element(dims.begin(), dims.end()) *= *p;
  std::sort(dims.begin(), dims.end());
  if (largest_first) std::reverse(dims.begin(), dims.end());
  return Dims(std::span<const int64_t>(dims));
}

std::vector<Box> split_boxes(const Dims& shape, int pieces, Random& random) {
  std::vector<Box> list{{Dims::filled(shape.rank(), 0), shape}};
  if (shape.rank() == 0) return list;
  for (int tries = 0; static_cast<int>(list.size()) < pieces && tries < 20 * pieces; ++tries) {
    const auto which = static_cast<size_t>(draw(random, static_cast<int64_t>(list.size())));
    const int axis = static_cast<int>(draw(random, shape.rank()));
    Box& box = list[which];
    if (box.count[axis] < 2) continue;
    const int64_t at = 1 + draw(random, box.count[axis] - 1);
    Box rest = box;
    rest.start[axis] += at;
    rest.count[axis] -= at;
    box.count[axis] = at;
    list.push_back(rest);
  }
  std::shuffle(list.begin(), list.end(), random);
  return list;
}

std::vector<Run> split_runs(int64_t elements, int pieces, Random& random) {
  std::vector<int64_t> cuts{0, elements};
  for (int i = 1; i < pieces && elements > 1; ++i) cuts.push_back(1 + draw(random, elements - 1));
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Run> list;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) list.push_back({cuts[i], cuts[i + 1] - cuts[i]});
  std::shuffle(list.begin(), list.end(), random);
  return list;
}

std::vector<int> deal(size_t count, int size, Random& random) {
  std::vector<int> owner(count);
  for (int& rank : owner) rank = static_cast<int>(draw(random, size));
  return owner;
}

}  // namespace penstock::test
