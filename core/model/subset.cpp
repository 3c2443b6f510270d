// Subset: arithmetic on the points of boxes and runs; nothing is listed point by point.
#include "core/model/subset.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace penstock {
namespace {

constexpr std::string_view text_name = "penstock_subset";

int64_t divide_up(int64_t a, int64_t b) { return a == 0 ? 0 : (a - 1) / b + 1; }

// The stored points of dimension D in [BEGIN, END), numbered as they are stored.
struct Range {
  int64_t begin = 0, count = 0;
};
Range stored_in(const Subset& subset, int d, int64_t begin, int64_t end) {
  const int64_t low = std::max<int64_t>(0, begin - subset.start[d]);
  const int64_t high = std::min(subset.count[d], end - subset.start[d]);
  const int64_t first = divide_up(low, subset.step[d]);
  return {first, std::max<int64_t>(0, high <= 0 ? 0 : divide_up(high, subset.step[d]) - first)};
}

Attribute numbers(std::string name, const Dims& values) {
  return make_attribute(std::move(name), {Kind::i64}, values.begin(), values.rank());
}

Dims dims_of(const Catalogue& catalogue, const std::string& object, std::string_view name) {
  const Attribute* found = catalogue.attribute(object, name);
  if (found == nullptr || found->type.kind != Kind::i64 || elements(found->shape) > max_rank) return {};
  Dims dims = Dims::filled(static_cast<int>(elements(found->shape)), 0);
  for (int d = 0; d < dims.rank(); ++d) std::memcpy(&dims[d], found->value.data() + 8 * d, 8);
  return dims;
}

// Adds to RUNS and KEPT what is stored of LENGTH elements from OFFSET, which lie in one row of the last dimension and
// are at SOURCE.
class Runs {
 public:
  explicit Runs(const Subset& subset)
      : subset_(subset), stored_(subset.stored()), step_(row_major(stored_)), last_(subset.shape.rank() - 1) {}

  void add(int64_t offset, int64_t length, int64_t source) {
    const Dims at = coordinates(subset_.shape, offset);
    int64_t to = 0;
    for (int d = 0; d < last_; ++d) {
      const Range range = stored_in(subset_, d, at[d], at[d] + 1);
      if (range.count == 0) return;
      to += range.begin * step_[d];
    }
    const Range range = stored_in(subset_, last_, at[last_], at[last_] + length);
    if (range.count == 0) return;
    to += range.begin;
    const int64_t place = subset_.start[last_] + range.begin * subset_.step[last_] - at[last_];
    kept.push_back({count_, range.count, source + place, subset_.step[last_]});
    count_ += range.count;
    if (!runs.empty() && runs.back().offset + runs.back().length == to)
      runs.back().length += range.count;
    else
      runs.push_back({to, range.count});
  }

  std::vector<Run> runs;
  std::vector<Kept> kept;

 private:
  const Subset& subset_;
  Dims stored_, step_;
  int last_;
  int64_t count_ = 0;
};

}  // namespace

Dims Subset::stored() const {
  Dims extents = count;
  for (int d = 0; d < extents.rank(); ++d) extents[d] = divide_up(count[d], step[d]);
  return extents;
}

std::string describe(const Subset& subset) {
  std::string text = fmt::format("{} {}", subset.mean ? "means of" : "every", describe(subset.step));
  if (subset.rows) return text + " of each rank's rows";
  Dims rest = subset.shape;
  for (int d = 0; d < rest.rank(); ++d) rest[d] -= subset.start[d];
  if (!(rest == subset.count)) text += fmt::format(" of the box {}", describe(subset.count));
  return text + fmt::format(" from {} of {}", describe(subset.start), describe(subset.shape));
}

void encode(Encoder& out, const std::optional<Subset>& subset) {
  out.value(subset.has_value());
  if (!subset) return;
  for (const Dims* dims : {&subset->shape, &subset->start, &subset->count, &subset->step}) out.dims(*dims);
  out.value(subset->mean);
  out.value(subset->rows);
}

std::optional<Subset> decode_subset(Decoder& in) {
  if (!in.value<bool>()) return {};
  Subset subset;
  for (Dims* dims : {&subset.shape, &subset.start, &subset.count, &subset.step}) *dims = in.dims();
  subset.mean = in.value<bool>();
  subset.rows = in.value<bool>();
  return subset;
}

std::vector<Attribute> attributes_of(const Subset& subset) {
  std::vector<Attribute> list{text_attribute(std::string(text_name), describe(subset)),
                              numbers(subset.mean ? "subset_mean" : "subset_every", subset.step)};
  if (subset.rows) return list;
  list.push_back(numbers("subset_start", subset.start));
  list.push_back(numbers("subset_shape", subset.shape));
  return list;
}

std::string cell_methods(const Subset& subset, std::span<const std::string> names) {
  std::string text;
  for (int d = 0; d < subset.step.rank(); ++d)
    if (subset.step[d] > 1) text += names[static_cast<size_t>(d)] + ": ";
  return text + "mean";
}

std::optional<Subset> subset_of(const Catalogue& catalogue, const std::string& dataset) {
  const Attribute* text = catalogue.attribute(dataset, text_name);
  if (text == nullptr) return {};
  Subset subset;
  subset.mean = catalogue.attribute(dataset, "subset_mean") != nullptr;
  subset.step = dims_of(catalogue, dataset, subset.mean ? "subset_mean" : "subset_every");
  subset.start = dims_of(catalogue, dataset, "subset_start");
  subset.shape = dims_of(catalogue, dataset, "subset_shape");
  subset.rows = catalogue.attribute(dataset, "subset_start") == nullptr;
  if (subset.rows) subset.start = subset.shape = Dims::filled(subset.step.rank(), 0);
  return subset;
}

Box thin(const Subset& subset, const Box& box, Memory& memory) {
  const int rank = box.count.rank();
  Box stored{Dims::filled(rank, 0), Dims::filled(rank, 0)};
  if (memory.stride.rank() == 0) memory.stride = row_major(box.count);
  bool empty = false;
  for (int d = 0; d < rank; ++d) {
    const Range range = stored_in(subset, d, box.start[d], box.start[d] + box.count[d]);
    stored.start[d] = range.begin;
    stored.count[d] = range.count;
    empty = empty || range.count == 0;
    memory.offset += (subset.start[d] + range.begin * subset.step[d] - box.start[d]) * memory.stride[d];
    memory.stride[d] *= subset.step[d];
  }
  if (!empty) return stored;
  memory = {};
  return {Dims::filled(rank, 0), Dims::filled(rank, 0)};
}

std::vector<Kept> kept_of(const Dims& count, const Memory& memory) {
  std::vector<Kept> kept;
  const Selection selection = Selection::of_box(count, Box{Dims::filled(count.rank(), 0), count}, memory);
  Cursor cursor(selection);
  for (Segment s; cursor.next(s);) kept.push_back({s.offset, s.length, s.memory, s.stride});
  return kept;
}

Result<Thinned> thin(const Subset& subset, const Decomposition& part) {
  if (part.form() == Decomposition::Form::boxes) {
    std::vector<Box> boxes;
    std::vector<Kept> kept;
    int64_t source = 0, first = 0;
    for (const Box& box : part.box_list()) {
      Memory memory{source, {}};
      const Box stored = thin(subset, box, memory);
      source += elements(box.count);
      const int64_t count = elements(stored.count);
      if (count == 0) continue;
      boxes.push_back(stored);
      for (Kept& one : kept_of(stored.count, memory)) {
        one.first += first;
        kept.push_back(one);
      }
      first += count;
    }
    PENSTOCK_ASSIGN(Decomposition thinned, Decomposition::boxes(subset.stored(), boxes));
    return Thinned{std::move(thinned), std::move(kept)};
  }
  Runs all(subset);
  const int64_t row = subset.shape[subset.shape.rank() - 1];
  int64_t source = 0;
  for (const Run& run : part.run_list())
    for (int64_t done = 0; done < run.length;) {
      const int64_t offset = run.offset + done, length = std::min(run.length - done, row - offset % row);
      all.add(offset, length, source);
      done += length;
      source += length;
    }
  PENSTOCK_ASSIGN(Decomposition thinned, Decomposition::runs(subset.stored(), all.runs));
  return Thinned{std::move(thinned), std::move(all.kept)};
}

}  // namespace penstock
