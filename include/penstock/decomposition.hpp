// Decomposition: the part of a dataset that this rank owns, known without communication.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <penstock/dims.hpp>
#include <penstock/status.hpp>

namespace penstock {

struct Box {
  Dims start;
  Dims count;
  friend bool operator==(const Box&, const Box&) = default;
};

// LENGTH elements starting at linear (row-major) element OFFSET of the dataset.
struct Run {
  int64_t offset = 0;
  int64_t length = 0;
  friend bool operator==(const Run&, const Run&) = default;
};

// All constructors are local; they validate and copy their arguments. Values are immutable and cheap to copy: one
// decomposition serves any number of datasets. Memory holds the elements in the order of the decomposition: a box in
// row-major order, boxes one after another, runs one after another.
class Decomposition {
 public:
  enum class Form : uint8_t { boxes, runs, ragged, replicated, per_rank };

  // One box of the global SHAPE. A zero extent in COUNT means that this rank has no elements.
  static Result<Decomposition> block(const Dims& shape, const Dims& start, const Dims& count);
  // The box of RANK if SHAPE is divided evenly over PROCESS_GRID. Ranks are row-major; the first shape[i] %
  // process_grid[i] blocks are one longer. Ranks beyond the grid have no elements.
  static Result<Decomposition> grid(const Dims& shape, const Dims& process_grid, int rank);
  // Any number of boxes, including none. Reading overlapping boxes is allowed; putting them is an overlap error at
  // commit.
  static Result<Decomposition> boxes(const Dims& shape, std::span<const Box> boxes);
  // Runs of elements in the row-major order of SHAPE, in any order. They must not overlap on this rank.
  static Result<Decomposition> runs(const Dims& shape, std::span<const Run> runs);
  // ROWS rows on this rank. The rows of the ranks follow one another in rank order; the first extent of the dataset is
  // the sum over all ranks. ROW is the shape of one row (rank 0: scalars).
  static Result<Decomposition> ragged(int64_t rows, const Dims& row);
  // The whole dataset, identical on every rank. It is written once, after a comparison of digests.
  static Result<Decomposition> replicated(const Dims& shape);
  // One row of shape ROW for each rank. The dataset has shape (ranks, ROW...).
  static Result<Decomposition> per_rank(const Dims& row);

  Form form() const { return form_; }
  // The global shape. For ragged and per_rank the shape of one row, since only commit knows the rest.
  const Dims& shape() const { return shape_; }
  int64_t rows() const { return rows_; }  // ragged only
  std::span<const Box> box_list() const { return *boxes_; }
  std::span<const Run> run_list() const { return *runs_; }
  // The number of elements of this rank, over all boxes or runs.
  int64_t elements() const;

 private:
  Decomposition(Form form, const Dims& shape);
  Form form_;
  Dims shape_;
  int64_t rows_ = 0;
  std::shared_ptr<const std::vector<Box>> boxes_;
  std::shared_ptr<const std::vector<Run>> runs_;
};

// The layout of this rank's elements in memory, in elements. Only for decompositions of at most one box (block, grid,
// ragged, replicated, per_rank); all others are contiguous.
struct Memory {
  int64_t offset = 0;  // of the first element, relative to the pointer passed
  Dims stride;         // one for each dimension of the box; rank 0 means contiguous

  // The box lies at START inside a row-major array of SHAPE, for example with ghost cells around it.
  static Memory inside(const Dims& shape, const Dims& start);
  static Memory strided(const Dims& stride, int64_t offset = 0) { return {offset, stride}; }
};

}  // namespace penstock
