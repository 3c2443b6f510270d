// Selection and Cursor: elements of a dataset in file order, by arithmetic.
#include "core/model/selection.hpp"

#include <algorithm>

#include "core/model/catalogue.hpp"

namespace penstock {

Selection Selection::of_box(Dims shape, Box box, Memory memory) {
  Selection s;
  s.count_ = elements(box.count);
  s.stride_ = memory.stride.rank() == box.count.rank() ? memory.stride : row_major(box.count);
  s.memory_offset_ = memory.offset;
  s.shape_ = shape;
  s.box_ = box;
  return s;
}

Selection Selection::whole(const Dims& shape) { return of_box(shape, Box{Dims::filled(shape.rank(), 0), shape}); }

Selection Selection::of_runs(Dims shape, std::span<const Run> runs) {
  std::vector<MemoryRun> sorted;
  sorted.reserve(runs.size());
  int64_t memory = 0;
  for (const Run& run : runs) {
    if (run.length > 0) sorted.push_back({run.offset, memory, run.length, 0});
    memory += run.length;
  }
  std::sort(sorted.begin(), sorted.end(), [](const MemoryRun& a, const MemoryRun& b) { return a.offset < b.offset; });
  return of_memory_runs(shape, std::move(sorted));
}

Selection Selection::of_memory_runs(Dims shape, std::vector<MemoryRun> sorted) {
  // Adjacent runs in file and memory become one run.
  size_t kept = 0;
  for (const MemoryRun& run : sorted) {
    if (kept > 0) {
      MemoryRun& last = sorted[kept - 1];
      if (last.offset + last.length == run.offset && last.memory + last.length == run.memory) {
        last.length += run.length;
        continue;
      }
    }
    sorted[kept++] = run;
  }
  sorted.resize(kept);
  Selection s;
  for (MemoryRun& run : sorted) {
    run.before = s.count_;
    s.count_ += run.length;
  }
  s.shape_ = shape;
  s.runs_ = std::make_shared<const std::vector<MemoryRun>>(std::move(sorted));
  return s;
}

int64_t Selection::first() const {
  if (count_ == 0) return 0;
  if (runs_) return runs_->front().offset;
  const Dims step = row_major(shape_);
  int64_t offset = 0;
  for (int d = 0; d < shape_.rank(); ++d) offset += box_.start[d] * step[d];
  return offset;
}

int64_t Selection::last() const {
  if (count_ == 0) return 0;
  if (runs_) return runs_->back().offset + runs_->back().length;
  const Dims step = row_major(shape_);
  int64_t offset = 1;
  for (int d = 0; d < shape_.rank(); ++d) offset += (box_.start[d] + box_.count[d] - 1) * step[d];
  return offset;
}

int64_t Selection::count_below(int64_t limit) const {
  if (count_ == 0 || limit <= 0) return 0;
  if (runs_) {
    const auto after =
        std::partition_point(runs_->begin(), runs_->end(), [&](const MemoryRun& r) { return r.offset < limit; });
    if (after == runs_->begin()) return 0;
    const MemoryRun& run = *(after - 1);
    return run.before + std::min(run.length, limit - run.offset);
  }
  const Dims step = row_major(shape_);
  int64_t below = 0, inner = count_;
  for (int d = 0; d < shape_.rank(); ++d) {
    const int64_t digit = limit / step[d];
    limit %= step[d];
    inner /= box_.count[d];
    below += std::clamp<int64_t>(digit - box_.start[d], 0, box_.count[d]) * inner;
    if (digit < box_.start[d] || digit >= box_.start[d] + box_.count[d]) return below;
  }
  // A scalar has no digits: LIMIT >= 1 is past its only element.
  return shape_.rank() == 0 ? 1 : below;
}

Selection Selection::packed(int64_t begin, int64_t end) const {
  if (!runs_) return of_box(shape_, box_);
  std::vector<MemoryRun> kept;
  int64_t memory = 0;
  Cursor cursor(*this, begin, end);
  for (Segment s; cursor.next(s); memory += s.length) kept.push_back({s.offset, memory, s.length, 0});
  return of_memory_runs(shape_, std::move(kept));
}

void Selection::encode(Encoder& out) const {
  out.dims(shape_);
  out.value(runs_ != nullptr);
  if (runs_) {
    out.list(std::span<const MemoryRun>(*runs_));
    return;
  }
  out.dims(box_.start);
  out.dims(box_.count);
  out.dims(stride_);
  out.value(memory_offset_);
}

Selection Selection::decode(Decoder& in) {
  const Dims shape = in.dims();
  if (in.value<bool>()) return of_memory_runs(shape, in.list<MemoryRun>());
  Box box;
  box.start = in.dims();
  box.count = in.dims();
  Memory memory;
  memory.stride = in.dims();
  memory.offset = in.value<int64_t>();
  if (box.start.rank() != shape.rank() || box.count.rank() != shape.rank()) return {};
  return of_box(shape, box, memory);
}

Cursor::Cursor(const Selection& selection, int64_t begin, int64_t end)
    : selection_(&selection), end_(end), begin_(begin) {
  if (selection.count() == 0 || begin >= end) {
    done_ = true;
    return;
  }
  if (!selection.is_box()) {
    const auto runs = selection.runs();
    run_ = static_cast<size_t>(std::partition_point(runs.begin(), runs.end(),
                                                    [&](const MemoryRun& r) { return r.offset + r.length <= begin; }) -
                               runs.begin());
    return;
  }

  // Joins dimensions, innermost first; the arrays are filled in that order and reversed afterwards.
  const Dims step = row_major(selection.shape());
  const Box& box = selection.box();
  int64_t extent[max_rank];
  const auto push = [&](int64_t start, int64_t count, int64_t stride, int64_t file_step, int64_t whole) {
    start_[rank_] = start;
    count_[rank_] = count;
    stride_[rank_] = stride;
    step_[rank_] = file_step;
    extent[rank_++] = whole;
  };
  for (int d = selection.shape().rank() - 1; d >= 0; --d) {
    const int64_t count = box.count[d], stride = selection.stride()[d], whole = selection.shape()[d];
    if (rank_ == 0) {
      push(box.start[d], count, stride, step[d], whole);
      continue;
    }
    const int m = rank_ - 1;
    if (count == 1) {
      start_[m] += box.start[d] * extent[m];
      extent[m] *= whole;
      continue;
    }
    if (count_[m] == 1 && extent[m] == 1) stride_[m] = stride;
    if (count_[m] == extent[m] && stride == stride_[m] * count_[m]) {
      start_[m] = box.start[d] * extent[m];
      count_[m] *= count;
      extent[m] *= whole;
      continue;
    }
    push(box.start[d], count, stride, step[d], whole);
  }
  if (rank_ == 0) push(0, 1, 1, 1, 1);  // a scalar
  std::reverse(start_, start_ + rank_);
  std::reverse(count_, count_ + rank_);
  std::reverse(stride_, stride_ + rank_);
  std::reverse(step_, step_ + rank_);

  int64_t position = selection.count_below(begin);
  if (position >= selection.count()) {
    done_ = true;
    return;
  }
  memory_ = selection.memory_offset();
  for (int d = rank_ - 1; d >= 0; --d) {
    index_[d] = position % count_[d];
    position /= count_[d];
    const int64_t at = d == rank_ - 1 ? 0 : index_[d];
    offset_ += (start_[d] + at) * step_[d];
    memory_ += at * stride_[d];
  }
}

bool Cursor::next(Segment& segment) { return !done_ && (selection_->is_box() ? next_box(segment) : next_run(segment)); }

bool Cursor::next_run(Segment& segment) {
  const auto runs = selection_->runs();
  if (run_ >= runs.size() || runs[run_].offset >= end_) {
    done_ = true;
    return false;
  }
  const MemoryRun& run = runs[run_++];
  const int64_t from = std::max(run.offset, begin_), to = std::min(run.offset + run.length, end_);
  segment = {from, run.memory + (from - run.offset), to - from, 1};
  return true;
}

bool Cursor::next_box(Segment& segment) {
  const int inner = rank_ - 1;
  const int64_t at = index_[inner];
  const int64_t from = offset_ + at * step_[inner];
  if (from >= end_) {
    done_ = true;
    return false;
  }
  const int64_t length = std::min(count_[inner] - at, end_ - from);
  segment = {from, memory_ + at * stride_[inner], length, stride_[inner]};
  if (at + length < count_[inner]) {
    done_ = true;  // cut by END
    return true;
  }
  index_[inner] = 0;
  int d = inner - 1;
  for (; d >= 0; --d) {
    offset_ += step_[d];
    memory_ += stride_[d];
    if (++index_[d] < count_[d]) break;
    offset_ -= count_[d] * step_[d];
    memory_ -= count_[d] * stride_[d];
    index_[d] = 0;
  }
  done_ = d < 0;
  return true;
}

}  // namespace penstock
