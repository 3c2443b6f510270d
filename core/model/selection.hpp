// Selection: elements of one dataset and their place in memory; the arithmetic behind all data movement.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <penstock/decomposition.hpp>
#include <penstock/dims.hpp>

#include "core/base/encode.hpp"

namespace penstock {

// LENGTH elements from linear element OFFSET of the dataset, at MEMORY, STRIDE elements apart.
struct Segment {
  int64_t offset = 0;
  int64_t memory = 0;
  int64_t length = 0;
  int64_t stride = 1;
};

// Same as Segment with stride 1. BEFORE is the number of elements in the preceding runs.
struct MemoryRun {
  int64_t offset = 0;
  int64_t memory = 0;
  int64_t length = 0;
  int64_t before = 0;
};

// Either a box with a memory stride per dimension, or non-overlapping runs sorted by offset.
class Selection {
 public:
  Selection() = default;
  static Selection of_box(Dims shape, Box box, Memory memory = {});  // contiguous in memory by default
  static Selection whole(const Dims& shape);
  // RUNS need not be sorted but must not overlap. Memory is in the order of RUNS.
  static Selection of_runs(Dims shape, std::span<const Run> runs);
  static Selection of_memory_runs(Dims shape, std::vector<MemoryRun> sorted);

  const Dims& shape() const { return shape_; }
  int64_t count() const { return count_; }
  bool is_box() const { return runs_ == nullptr; }
  const Box& box() const { return box_; }
  const Dims& stride() const { return stride_; }
  int64_t memory_offset() const { return memory_offset_; }
  std::span<const MemoryRun> runs() const { return *runs_; }

  // First selected linear offset and one past the last; {0, 0} if count() is 0.
  int64_t first() const;
  int64_t last() const;
  // The number of selected elements with a linear offset below LIMIT. O(rank) for boxes, O(log runs) for runs.
  int64_t count_below(int64_t limit) const;
  bool contains(int64_t offset) const { return count_below(offset + 1) != count_below(offset); }

  // Without memory: packed in file order. Of runs only BEGIN <= offset < END remains; boxes stay whole.
  Selection packed(int64_t begin, int64_t end) const;

  void encode(Encoder& encoder) const;
  static Selection decode(Decoder& decoder);

 private:
  Dims shape_;
  Box box_;
  Dims stride_;
  int64_t memory_offset_ = 0;
  int64_t count_ = 0;
  std::shared_ptr<const std::vector<MemoryRun>> runs_;
};

// Iterates over the segments of a selection within [begin, end) in ascending offset; each is as long as possible. State
// is bounded: nothing is expanded. Construction costs O(rank) or O(log runs), each step O(1) amortised.
class Cursor {
 public:
  explicit Cursor(const Selection& selection, int64_t begin = 0, int64_t end = INT64_MAX);
  bool next(Segment& segment);

 private:
  bool next_run(Segment& segment);
  bool next_box(Segment& segment);

  const Selection* selection_;
  int64_t end_ = 0;
  size_t run_ = 0;
  int64_t begin_ = 0;
  // A box in which dimensions that are contiguous in both file and memory are joined.
  int rank_ = 0;
  bool done_ = false;
  int64_t start_[max_rank], count_[max_rank], stride_[max_rank], step_[max_rank], index_[max_rank];
  int64_t offset_ = 0;  // of the current innermost row's first element
  int64_t memory_ = 0;
};

// The elements that A and B both select, as a selection of the array in which B's elements are stored packed in B's own
// order (a box's own shape; for runs their file order), with A's memory. Empty if they have no common element.
std::optional<Selection> intersect(const Selection& a, const Selection& b);
// The shape of the array in which S is stored packed.
Dims packed_shape(const Selection& s);
// S's own elements in that array, with S's memory.
Selection in_packed(const Selection& s);

}  // namespace penstock
