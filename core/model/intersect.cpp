// Intersection: of requested and stored elements, in the coordinates of the stored array.
#include <algorithm>

#include "core/model/catalogue.hpp"
#include "core/model/selection.hpp"

namespace penstock {
namespace {

std::optional<Selection> intersect_boxes(const Selection& a, const Selection& b) {
  const int rank = a.shape().rank();
  Box box{Dims::filled(rank, 0), Dims::filled(rank, 0)};
  Memory memory{a.memory_offset(), a.stride()};
  for (int d = 0; d < rank; ++d) {
    const int64_t from = std::max(a.box().start[d], b.box().start[d]);
    const int64_t to = std::min(a.box().start[d] + a.box().count[d], b.box().start[d] + b.box().count[d]);
    if (to <= from) return std::nullopt;
    box.start[d] = from - b.box().start[d];
    box.count[d] = to - from;
    memory.offset += (from - a.box().start[d]) * a.stride()[d];
  }
  return Selection::of_box(b.box().count, box, memory);
}

void append(std::vector<MemoryRun>& runs, int64_t offset, int64_t memory, int64_t length, int64_t stride) {
  if (stride == 1) {
    runs.push_back({offset, memory, length, 0});
    return;
  }
  for (int64_t i = 0; i < length; ++i) runs.push_back({offset + i, memory + i * stride, 1, 0});
}

}  // namespace

std::optional<Selection> intersect(const Selection& a, const Selection& b) {
  if (a.count() == 0 || b.count() == 0) return std::nullopt;
  if (b.is_box() && b.count() == elements(b.shape())) return a;  // B is the whole dataset
  if (a.is_box() && b.is_box()) return intersect_boxes(a, b);
  const int64_t begin = std::max(a.first(), b.first()), end = std::min(a.last(), b.last());
  if (begin >= end) return std::nullopt;
  std::vector<MemoryRun> runs;
  Cursor wanted(a, begin, end), stored(b, begin, end);
  int64_t position = b.count_below(begin);  // of the stored segment in b's packed array
  Segment x, y;
  bool more = wanted.next(x) && stored.next(y);
  while (more) {
    const int64_t from = std::max(x.offset, y.offset);
    const int64_t to = std::min(x.offset + x.length, y.offset + y.length);
    if (from < to)
      append(runs, position + (from - y.offset), x.memory + (from - x.offset) * x.stride, to - from, x.stride);
    if (x.offset + x.length <= y.offset + y.length) {
      more = wanted.next(x);
    } else {
      position += y.length;
      more = stored.next(y);
    }
  }
  if (runs.empty()) return std::nullopt;
  return Selection::of_memory_runs(packed_shape(b), std::move(runs));
}

Dims packed_shape(const Selection& s) { return s.is_box() ? s.box().count : Dims{s.count()}; }

Selection in_packed(const Selection& s) {
  const Dims shape = packed_shape(s);
  if (s.is_box())
    return Selection::of_box(shape, Box{Dims::filled(shape.rank(), 0), shape}, Memory{s.memory_offset(), s.stride()});
  std::vector<MemoryRun> runs(s.runs().begin(), s.runs().end());
  for (MemoryRun& run : runs) run.offset = run.before;
  return Selection::of_memory_runs(shape, std::move(runs));
}

}  // namespace penstock
