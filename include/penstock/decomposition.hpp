// Decomposition: which part of a dataset this rank owns, before ranks have talked to each other.
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

// LENGTH elements from linear (row-major) element OFFSET of the dataset.
struct Run {
  int64_t offset = 0;
  int64_t length = 0;
};

// Every constructor is local, validates its arguments and copies them. Values are immutable and cheap to
// copy: make one once and put any number of datasets with it. Memory holds the elements in the order in which
// the decomposition names them: a box in row-major order, boxes one after another, runs one after another.
class Decomposition {
 public:
  enum class Form : uint8_t { boxes, runs, ragged, replicated, per_rank };

  // One box of the global SHAPE; an extent of zero in COUNT means that this rank has nothing.
  static Result<Decomposition> block(const Dims& shape, const Dims& start, const Dims& count);
  // This RANK's box when SHAPE is cut evenly over PROCESS_GRID (row-major ranks; the first
  // shape[i] % process_grid[i] blocks are one longer). Ranks beyond the grid's size have nothing.
  static Result<Decomposition> grid(const Dims& shape, const Dims& process_grid, int rank);
  // Any number of boxes, none included. Boxes that overlap may be read; put, they are an overlap at commit.
  static Result<Decomposition> boxes(const Dims& shape, std::span<const Box> boxes);
  // Runs of the row-major element sequence of SHAPE, in any order; they must not overlap on this rank.
  static Result<Decomposition> runs(const Dims& shape, std::span<const Run> runs);
  // ROWS rows on this rank; ranks follow one another in rank order, so the first extent of the dataset is the
  // sum of all ranks' rows. ROW is the shape of one row (rank 0: a list of scalars).
  static Result<Decomposition> ragged(int64_t rows, const Dims& row);
  // The whole dataset, the same on every rank: written once, after its digests were compared.
  static Result<Decomposition> replicated(const Dims& shape);
  // One row of shape ROW for each rank: the dataset is (ranks, ROW...).
  static Result<Decomposition> per_rank(const Dims& row);

  Form form() const { return form_; }
  // The global shape; for ragged and per_rank the shape of one row, since only commit knows the rest.
  const Dims& shape() const { return shape_; }
  int64_t rows() const { return rows_; }  // ragged only
  std::span<const Box> box_list() const { return *boxes_; }
  std::span<const Run> run_list() const { return *runs_; }
  // Elements of this rank; for a box list and runs their sum.
  int64_t elements() const;

 private:
  Decomposition() = default;
  Form form_ = Form::boxes;
  Dims shape_;
  int64_t rows_ = 0;
  std::shared_ptr<const std::vector<Box>> boxes_;
  std::shared_ptr<const std::vector<Run>> runs_;
};

// How this rank's elements lie in memory, in elements. Only for decompositions of at most one box (block, grid,
// ragged, replicated, per_rank): everything else is contiguous.
struct Memory {
  int64_t offset = 0;  // of the first element, from the pointer passed
  Dims stride;         // per dimension of the box; rank 0 means contiguous

  // The box lies inside an array of SHAPE (ghost cells around it) at START, row-major.
  static Memory inside(const Dims& shape, const Dims& start);
  static Memory strided(const Dims& stride, int64_t offset = 0) { return {offset, stride}; }
};

}  // namespace penstock
