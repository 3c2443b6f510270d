// Block means: one pass over the rows of a box, one addition for each element.
#include "core/model/block_means.hpp"

#include <algorithm>
#include <complex>
#include <cstring>

#include "core/model/kinds.hpp"

namespace penstock {
namespace {

constexpr int64_t blocks_at_once = 1 << 14;  // of a box, whose sums need memory

// A bijection that looks random (the end of splitmix64, by Sebastiano Vigna).
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The points of BLOCK.
Box box_of(const Subset& subset, int64_t block) {
  Box box{coordinates(subset.stored(), block), subset.step};
  for (int d = 0; d < box.start.rank(); ++d) {
    box.start[d] *= subset.step[d];
    box.count[d] = std::min(subset.step[d], subset.count[d] - box.start[d]);
    box.start[d] += subset.start[d];
  }
  return box;
}

// Calls WORK with the linear offset of each row of BOX in SHAPE, along the last dimension.
template <typename Work>
void for_each_row(const Dims& shape, const Box& box, const Work& work) {
  if (elements(box.count) == 0) return;
  const Dims step = row_major(shape);
  const int last = shape.rank() - 1;
  Dims rows = box.count;
  rows[last] = 1;
  for (int64_t r = 0, n = elements(rows); r < n; ++r) {
    const Dims at = coordinates(rows, r);
    int64_t offset = 0;
    for (int d = 0; d <= last; ++d) offset += (box.start[d] + at[d]) * step[d];
    work(offset, at);
  }
}

uint64_t proof_of(const Dims& shape, const Box& box) {
  uint64_t proof = 0;
  for_each_row(shape, box, [&](int64_t offset, const Dims&) {
    for (int64_t i = 0; i < box.count[box.count.rank() - 1]; ++i) proof += mix(static_cast<uint64_t>(offset + i));
  });
  return proof;
}

// The points that A and B share; empty extents if there are none.
Box common(const Box& a, const Box& b) {
  Box box = a;
  for (int d = 0; d < a.start.rank(); ++d) {
    box.start[d] = std::max(a.start[d], b.start[d]);
    box.count[d] = std::max<int64_t>(0, std::min(a.start[d] + a.count[d], b.start[d] + b.count[d]) - box.start[d]);
  }
  return box;
}

template <typename T>
void add_value(BlockSum& sum, const T& value) {
  if constexpr (is_complex_type<T>) {
    sum.sum[0] += value.real();
    sum.sum[1] += value.imag();
  } else {
    sum.sum[0] += static_cast<double>(value);
  }
}

template <typename T>
void append(const BlockSum& sum, std::vector<std::byte>& values) {
  const auto n = static_cast<double>(sum.count);
  T value{};
  if constexpr (is_complex_type<T>)
    value = {static_cast<typename T::value_type>(sum.sum[0] / n), static_cast<typename T::value_type>(sum.sum[1] / n)};
  else
    value = static_cast<T>(sum.sum[0] / n);
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  values.insert(values.end(), bytes, bytes + sizeof value);
}

// Calls THEN with a value of the C++ type of floating-point TYPE.
template <typename Then>
void with_float(const ElementType& type, Then then) {
  with_number(type.kind, [&]<typename T>(T) {
    if constexpr (!std::is_integral_v<T>) then(T{});
    return true;
  });
}

// The blocks that BOX, which lies in the subset's box, touches, and those of which it has all points.
struct Touched {
  Box all, whole;
};
Touched touched_by(const Subset& subset, const Box& box) {
  Touched touched{box, box};
  for (int d = 0; d < box.start.rank(); ++d) {
    const int64_t low = box.start[d] - subset.start[d], high = low + box.count[d], step = subset.step[d];
    touched.all.start[d] = low / step;
    touched.all.count[d] = (high - 1) / step + 1 - low / step;
    const int64_t first = low == 0 ? 0 : (low - 1) / step + 1;
    const int64_t end = high == subset.count[d] ? (high - 1) / step + 1 : high / step;
    touched.whole.start[d] = first;
    touched.whole.count[d] = std::max<int64_t>(0, end - first);
  }
  if (elements(touched.whole.count) == 0) touched.whole = {Dims::filled(box.start.rank(), 0), touched.whole.count};
  return touched;
}

bool is_inside(const Box& box, const Dims& at) {
  for (int d = 0; d < at.rank(); ++d)
    if (at[d] < box.start[d] || at[d] >= box.start[d] + box.count[d]) return false;
  return true;
}

// The sums of the blocks in TOUCHED, in row-major order, of the points of PART of BOX.
template <typename T>
std::vector<BlockSum> sums_of(const Subset& subset, const Box& touched, const Box& box, const Box& part,
                              const std::byte* data, const Memory& memory) {
  std::vector<BlockSum> sums(static_cast<size_t>(elements(touched.count)));
  const Dims step = row_major(touched.count);
  const int last = box.start.rank() - 1;
  const int64_t begin = part.start[last] - subset.start[last], end = begin + part.count[last],
                width = subset.step[last];
  for_each_row(subset.shape, part, [&](int64_t, const Dims& at) {
    int64_t from = memory.offset, to = 0;
    for (int d = 0; d <= last; ++d) from += (part.start[d] + at[d] - box.start[d]) * memory.stride[d];
    for (int d = 0; d < last; ++d)
      to += ((part.start[d] + at[d] - subset.start[d]) / subset.step[d] - touched.start[d]) * step[d];
    for (int64_t i = begin; i < end;) {
      BlockSum& sum = sums[static_cast<size_t>(to + i / width - touched.start[last])];
      const int64_t stop = std::min(end, (i / width + 1) * width);
      sum.count += stop - i;
      for (; i < stop; ++i, from += memory.stride[last]) {
        T value;
        std::memcpy(&value, data + from * static_cast<int64_t>(sizeof value), sizeof value);
        add_value(sum, value);
      }
    }
  });
  return sums;
}

}  // namespace

void BlockSum::add(const BlockSum& other) {
  sum[0] += other.sum[0];
  sum[1] += other.sum[1];
  count += other.count;
  proof += other.proof;
}

BlockMeans sum_box(const Subset& subset, const ElementType& type, const Box& box, const std::byte* data,
                   const Memory& memory, BlockSums& rest) {
  const int rank = box.start.rank();
  const Box part = common(box, {subset.start, subset.count});
  BlockMeans means{{Dims::filled(rank, 0), Dims::filled(rank, 0)}, {}};
  if (elements(part.count) == 0) return means;
  const Touched touched = touched_by(subset, part);
  means.box = touched.whole;
  Memory own = memory;
  if (own.stride.rank() == 0) own.stride = row_major(box.count);
  const Dims step = row_major(subset.stored());
  const int64_t of_row = elements(touched.all.count) / touched.all.count[0];  // of blocks
  const int64_t rows = std::max<int64_t>(1, blocks_at_once / of_row);
  for (int64_t row = 0; row < touched.all.count[0]; row += rows) {
    Box blocks = touched.all, points = part;
    blocks.start[0] += row;
    blocks.count[0] = std::min(rows, touched.all.count[0] - row);
    points.start[0] = subset.start[0] + blocks.start[0] * subset.step[0];
    points.count[0] = blocks.count[0] * subset.step[0];
    points = common(points, part);
    with_float(type, [&]<typename T>(T) {
      const auto sums = sums_of<T>(subset, blocks, box, points, data, own);
      for (size_t i = 0; i < sums.size(); ++i) {
        Dims at = coordinates(blocks.count, static_cast<int64_t>(i));
        int64_t block = 0;
        for (int d = 0; d < rank; ++d) block += (at[d] += blocks.start[d]) * step[d];
        if (is_inside(touched.whole, at)) {
          append<T>(sums[i], means.values);
          continue;
        }
        BlockSum cut = sums[i];
        cut.proof = proof_of(subset.shape, common(part, box_of(subset, block)));
        rest[block].add(cut);
      }
    });
  }
  return means;
}

void sum_runs(const Subset& subset, const ElementType& type, std::span<const Run> runs, const std::byte* data,
              BlockSums& rest) {
  const int last = subset.shape.rank() - 1;
  const int64_t row = subset.shape[last];
  const Dims stored = subset.stored(), step = row_major(stored);
  const auto add = [&]<typename T>(T value, const Dims& at, int64_t offset, int64_t length) {
    int64_t to = 0;
    for (int d = 0; d < last; ++d) {
      const int64_t place = at[d] - subset.start[d];
      if (place < 0 || place >= subset.count[d]) return;
      to += place / subset.step[d] * step[d];
    }
    const int64_t begin = std::max<int64_t>(0, at[last] - subset.start[last]);
    const int64_t end = std::min(at[last] + length - subset.start[last], subset.count[last]);
    for (int64_t i = begin; i < end;) {
      BlockSum& sum = rest[to + i / subset.step[last]];
      const int64_t stop = std::min(end, (i / subset.step[last] + 1) * subset.step[last]);
      sum.count += stop - i;
      for (; i < stop; ++i) {
        const int64_t place = i + subset.start[last] - at[last];
        std::memcpy(&value, data + place * static_cast<int64_t>(sizeof value), sizeof value);
        add_value(sum, value);
        sum.proof += mix(static_cast<uint64_t>(offset + place));
      }
    }
  };
  with_float(type, [&]<typename T>(T) {
    for (const Run& run : runs)
      for (int64_t done = 0; done < run.length;) {
        const int64_t offset = run.offset + done, length = std::min(run.length - done, row - offset % row);
        add(T{}, coordinates(subset.shape, offset), offset, length);
        data += length * static_cast<int64_t>(sizeof(T));
        done += length;
      }
  });
}

int64_t points_of(const Subset& subset, int64_t block) { return elements(box_of(subset, block).count); }

bool is_whole(const Subset& subset, int64_t block, const BlockSum& sum) {
  const Box box = box_of(subset, block);
  return sum.count == elements(box.count) && sum.proof == proof_of(subset.shape, box);
}

void add_mean(const BlockSum& sum, const ElementType& type, std::vector<std::byte>& values) {
  with_float(type, [&]<typename T>(T) { append<T>(sum, values); });
}

}  // namespace penstock
