// Decomposition: validates the part that a rank owns.
#include <penstock/decomposition.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/model/catalogue.hpp"

namespace penstock {
namespace {

const auto no_boxes = std::make_shared<const std::vector<Box>>();
const auto no_runs = std::make_shared<const std::vector<Run>>();

Status check(const Dims& shape) { return check_shape(ElementType{Kind::i8}, shape); }

Status check_box(const Dims& shape, const Box& box) {
  if (box.start.rank() != shape.rank() || box.count.rank() != shape.rank())
    return {Code::invalid, fmt::format("a block needs start and count of {} numbers, as many as its shape {} has",
                                       shape.rank(), describe(shape))};
  for (int d = 0; d < shape.rank(); ++d) {
    if (box.count[d] < 0 || box.start[d] < 0)
      return {Code::invalid, fmt::format("a block at {} of {} has a negative number in dimension {}",
                                         describe(box.start), describe(box.count), d)};
    if (box.count[d] > 0 && (box.start[d] > shape[d] || box.count[d] > shape[d] - box.start[d]))
      return {Code::invalid, fmt::format("a block at {} of {} leaves the shape {} in dimension {}", describe(box.start),
                                         describe(box.count), describe(shape), d)};
  }
  return {};
}

}  // namespace

Decomposition::Decomposition(Form form, const Dims& shape)
    : form_(form), shape_(shape), boxes_(no_boxes), runs_(no_runs) {}

Result<Decomposition> Decomposition::block(const Dims& shape, const Dims& start, const Dims& count) {
  const Box box{start, count};
  return boxes(shape, std::span(&box, 1));
}

Result<Decomposition> Decomposition::grid(const Dims& shape, const Dims& process_grid, int rank) {
  PENSTOCK_TRY(check(shape));
  if (process_grid.rank() != shape.rank())
    return Status(Code::invalid, fmt::format("the process grid {} must have as many dimensions as the shape {}",
                                             describe(process_grid), describe(shape)));
  PENSTOCK_TRY(check(process_grid));
  if (rank < 0 || std::count(process_grid.begin(), process_grid.end(), 0) > 0)
    return Status(Code::invalid, fmt::format("rank {} in process grid {}: neither may be below one process", rank,
                                             describe(process_grid)));
  Box box{Dims::filled(shape.rank(), 0), Dims::filled(shape.rank(), 0)};
  if (rank < penstock::elements(process_grid)) {
    const Dims at = coordinates(process_grid, rank);
    for (int d = 0; d < shape.rank(); ++d) {
      const int64_t whole = shape[d] / process_grid[d], extra = shape[d] % process_grid[d];
      box.start[d] = at[d] * whole + std::min(at[d], extra);
      box.count[d] = whole + (at[d] < extra ? 1 : 0);
    }
  } else if (shape.rank() == 0) {
    return boxes(shape, {});
  }
  return boxes(shape, std::span(&box, 1));
}

Result<Decomposition> Decomposition::boxes(const Dims& shape, std::span<const Box> boxes) {
  PENSTOCK_TRY(check(shape));
  for (const Box& box : boxes) PENSTOCK_TRY(check_box(shape, box));
  Decomposition d(Form::boxes, shape);
  d.boxes_ = std::make_shared<const std::vector<Box>>(boxes.begin(), boxes.end());
  return d;
}

Result<Decomposition> Decomposition::runs(const Dims& shape, std::span<const Run> runs) {
  PENSTOCK_TRY(check(shape));
  const int64_t total = penstock::elements(shape);
  for (const Run& run : runs)
    if (run.offset < 0 || run.length < 0 || run.offset > total || run.length > total - run.offset)
      return Status(Code::invalid, fmt::format("a run of {} elements at {} leaves the {} elements of shape {}",
                                               run.length, run.offset, total, describe(shape)));
  std::vector<Run> sorted(runs.begin(), runs.end());
  std::erase_if(sorted, [](const Run& run) { return run.length == 0; });
  std::sort(sorted.begin(), sorted.end(), [](const Run& a, const Run& b) { return a.offset < b.offset; });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].offset < sorted[i - 1].offset + sorted[i - 1].length)
      return Status(Code::overlap, fmt::format("two runs of this rank hold element {}", sorted[i].offset));
  Decomposition d(Form::runs, shape);
  d.runs_ = std::make_shared<const std::vector<Run>>(runs.begin(), runs.end());
  return d;
}

Result<Decomposition> Decomposition::ragged(int64_t rows, const Dims& row) {
  PENSTOCK_TRY(check(row));
  if (rows < 0) return Status(Code::invalid, fmt::format("a ragged list cannot have {} rows", rows));
  if (row.rank() >= max_rank)
    return Status(Code::invalid,
                  fmt::format("rows of {} dimensions make a dataset of more than {}", row.rank(), max_rank));
  Dims whole{rows};
  for (const int64_t extent : row) whole.push_back(extent);
  PENSTOCK_TRY(check(whole));
  Decomposition d(Form::ragged, row);
  d.rows_ = rows;
  return d;
}

Result<Decomposition> Decomposition::replicated(const Dims& shape) {
  PENSTOCK_TRY(check(shape));
  return Decomposition(Form::replicated, shape);
}

Result<Decomposition> Decomposition::per_rank(const Dims& row) {
  PENSTOCK_ASSIGN(Decomposition d, ragged(1, row));
  d.form_ = Form::per_rank;
  return d;
}

int64_t Decomposition::elements() const {
  switch (form_) {
    case Form::boxes:
      return std::accumulate(boxes_->begin(), boxes_->end(), int64_t{0},
                             [](int64_t n, const Box& box) { return n + penstock::elements(box.count); });
    case Form::runs:
      return std::accumulate(runs_->begin(), runs_->end(), int64_t{0},
                             [](int64_t n, const Run& run) { return n + run.length; });
    case Form::ragged:
    case Form::per_rank: return rows_ * penstock::elements(shape_);
    case Form::replicated: return penstock::elements(shape_);
  }
  return 0;
}

Memory Memory::inside(const Dims& shape, const Dims& start) {
  Memory memory{0, row_major(shape)};
  for (int d = 0; d < shape.rank(); ++d) memory.offset += start[d] * memory.stride[d];
  return memory;
}

}  // namespace penstock
