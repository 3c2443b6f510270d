// Moving: divides a piece into planes of rows, or into runs, for single kernel calls. Rows that a range cuts are copied
// separately.
#include "core/transport/move.hpp"

#include <algorithm>
#include <utility>

#include "core/base/units.hpp"
#include "core/transport/kernels.hpp"

namespace penstock {
namespace {

// The two sides of a copy. WINDOW null: the file's side is PACKED. MEMORY null: the memory's side is. Packed data is
// consumed from front to back.
struct Sides {
  std::byte* window = nullptr;
  std::byte* memory = nullptr;
  std::byte* packed = nullptr;
  Direction direction = Direction::write;
};

// In bytes.
struct Axis {
  int64_t count = 1, file_step = 0, memory_step = 0;
};

// A box in bytes, innermost axis first. Axis 0 is a row, dense on both sides, of at least one element.
struct Grid {
  int rank = 0;
  Axis axis[max_rank + 1];
  int64_t span[max_rank + 1] = {};  // in the file, from the first byte to one past the last of these axes
  int64_t file = 0, memory = 0;     // its start

  void add(const Axis& next) {
    const int last = rank - 1;
    if (next.count == 1) return;
    if (last >= 0 && next.file_step == axis[last].count * axis[last].file_step &&
        next.memory_step == axis[last].count * axis[last].memory_step) {
      axis[last].count *= next.count;
    } else {
      axis[rank++] = next;
    }
    const Axis& a = axis[rank - 1];
    span[rank - 1] = (a.count - 1) * a.file_step + (rank > 1 ? span[rank - 2] : 1);
  }
};

Grid grid_of_row(int64_t bytes) {
  Grid grid;
  grid.rank = 1;
  grid.axis[0] = {bytes, 1, 1};
  grid.span[0] = bytes;
  return grid;
}

// If memory is packed, each stride is the size of the inner dimensions.
Grid grid_of_box(const Piece& piece, bool packed) {
  const Selection& selection = piece.selection;
  const Dims& shape = selection.shape();
  const int64_t size = piece.element_bytes;
  Grid grid = grid_of_row(size);
  grid.file = piece.address;
  grid.memory = packed ? 0 : selection.memory_offset() * size;
  int64_t file_step = size, memory_step = size;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (d == 0 && piece.row_stride > 0) file_step = piece.row_stride;
    const int64_t count = selection.box().count[d];
    grid.file += selection.box().start[d] * file_step;
    grid.add({count, file_step, packed ? memory_step : selection.stride()[d] * size});
    file_step *= shape[d];
    memory_step *= count;
  }
  return grid;
}

class Copy {
 public:
  Copy(const Piece& piece, AddressRange range, const Sides& sides)
      : sides_(sides),
        begin_(range.begin),
        bytes_(range.end - range.begin),
        swap_bytes_(sides.memory == nullptr ? 0 : piece.swap_bytes) {}

  // From axis A inwards; these start at FILE and MEMORY.
  void axes(const Grid& grid, int a, int64_t file, int64_t memory);
  void runs(const Piece& piece);
  std::byte* end() const { return sides_.packed; }

 private:
  // Elements at distances of ELEMENT_BYTES.
  struct Stretch {
    int64_t begin = 0, end = 0;
    int64_t file = 0;  // of the first
    int64_t element_bytes = 1;
  };

  void rows(const Grid& grid, int64_t file, int64_t memory, int64_t count);
  void whole_rows(const Grid& grid, int64_t file, int64_t memory, int64_t count);
  void row(int64_t file, int64_t memory, int64_t bytes);
  void units(std::byte* in_file, std::byte* in_memory, int64_t bytes);
  void cut_units(std::byte* in_file, std::byte* row, int64_t from, int64_t to);
  size_t runs_of(const Stretch& stretch, std::span<const MemoryRun> runs);
  size_t whole_runs(const Stretch& stretch, std::span<const MemoryRun> runs);

  std::byte* in_file(int64_t at) const { return sides_.window == nullptr ? sides_.packed : sides_.window + at; }
  std::byte* in_memory(int64_t at) const { return sides_.memory == nullptr ? sides_.packed : sides_.memory + at; }
  bool writing() const { return sides_.direction == Direction::write; }
  void use(int64_t bytes) {
    if (sides_.packed != nullptr) sides_.packed += bytes;
  }

  Sides sides_;
  const int64_t begin_, bytes_;  // of the range
  const int64_t swap_bytes_;
};

// From here on, file positions are relative to the start of the range.
void Copy::axes(const Grid& grid, int a, int64_t file, int64_t memory) {
  if (a == 0) return row(file, memory, grid.axis[0].count);
  const Axis& axis = grid.axis[a];
  const int64_t inner = grid.span[a - 1];
  int64_t low = 0, high = axis.count;
  if (file + inner <= 0) low = (-file - inner) / axis.file_step + 1;
  if (file + grid.span[a] > bytes_)
    high = file >= bytes_ ? 0 : std::min(high, (bytes_ - file - 1) / axis.file_step + 1);
  if (a == 1) return rows(grid, file + low * axis.file_step, memory + low * axis.memory_step, high - low);
  for (int64_t i = low; i < high; ++i) axes(grid, a - 1, file + i * axis.file_step, memory + i * axis.memory_step);
}

// The range may cut the first and the last row.
void Copy::rows(const Grid& grid, int64_t file, int64_t memory, int64_t count) {
  const Axis& axis = grid.axis[1];
  const int64_t bytes = grid.axis[0].count;
  if (count > 0 && file < 0) {
    row(file, memory, bytes);
    file += axis.file_step;
    memory += axis.memory_step;
    --count;
  }
  const int64_t last = count - 1;
  const bool cut = count > 0 && file + last * axis.file_step + bytes > bytes_;
  if (const int64_t whole = cut ? last : count; whole > 0) whole_rows(grid, file, memory, whole);
  if (cut) row(file + last * axis.file_step, memory + last * axis.memory_step, bytes);
}

void Copy::whole_rows(const Grid& grid, int64_t file, int64_t memory, int64_t count) {
  const int64_t bytes = grid.axis[0].count;
  const int64_t file_step = sides_.window == nullptr ? bytes : grid.axis[1].file_step;
  const int64_t memory_step = sides_.memory == nullptr ? bytes : grid.axis[1].memory_step;
  if (writing())
    copy_rows({in_file(file), in_memory(memory), count, bytes, file_step, memory_step}, swap_bytes_);
  else
    copy_rows({in_memory(memory), in_file(file), count, bytes, memory_step, file_step}, swap_bytes_);
  use(count * bytes);
}

// The part of a row inside the range. The range may cut units that are swapped as a whole.
void Copy::row(int64_t file, int64_t memory, int64_t bytes) {
  const int64_t from = std::max<int64_t>(0, -file), to = std::min(bytes, bytes_ - file);
  if (from >= to) return;
  std::byte* there = in_file(file + from);
  if (swap_bytes_ <= 1) {
    units(there, in_memory(memory + from), to - from);
  } else {
    const int64_t first = std::min(to, round_up(from, swap_bytes_));
    const int64_t last = std::max(first, to / swap_bytes_ * swap_bytes_);
    std::byte* here = sides_.memory + memory;
    cut_units(there, here, from, first);
    units(there + (first - from), here + first, last - first);
    cut_units(there + (last - from), here, last, to);
  }
  use(to - from);
}

// Whole units.
void Copy::units(std::byte* in_file, std::byte* in_memory, int64_t bytes) {
  if (writing())
    copy_rows({in_file, in_memory, 1, bytes, 0, 0}, swap_bytes_);
  else
    copy_rows({in_memory, in_file, 1, bytes, 0, 0}, swap_bytes_);
}

// Bytes FROM to TO of the row that begins at ROW, one by one.
void Copy::cut_units(std::byte* in_file, std::byte* row, int64_t from, int64_t to) {
  for (int64_t b = from; b < to; ++b, ++in_file) {
    std::byte& in_memory = row[b / swap_bytes_ * swap_bytes_ + (swap_bytes_ - 1 - b % swap_bytes_)];
    if (writing())
      *in_file = in_memory;
    else
      in_memory = *in_file;
  }
}

void Copy::runs(const Piece& piece) {
  const auto all = piece.selection.runs();
  const int64_t row = piece.row_stride > 0 ? row_elements(piece) : INT64_MAX;
  const int64_t first = element_floor(piece, begin_);
  auto i = static_cast<size_t>(
      std::partition_point(all.begin(), all.end(), [&](const MemoryRun& r) { return r.offset + r.length <= first; }) -
      all.begin());
  for (int64_t r = first / row; i < all.size(); ++r) {
    r = std::max(r, all[i].offset / row);
    const int64_t file = piece.address - begin_ + r * piece.row_stride;
    if (file >= bytes_) return;
    i += runs_of({r * row, r * row + row, file, piece.element_bytes}, all.subspan(i));
    if (piece.row_stride == 0) return;
  }
}

// The number of RUNS that end in STRETCH.
size_t Copy::runs_of(const Stretch& stretch, std::span<const MemoryRun> runs) {
  size_t i = 0;
  while (i < runs.size() && runs[i].offset < stretch.end) {
    i += whole_runs(stretch, runs.subspan(i));
    if (i == runs.size() || runs[i].offset >= stretch.end) break;
    const MemoryRun& run = runs[i];  // cut by the range or the end of the stretch
    const int64_t from = std::max(run.offset, stretch.begin), to = std::min(run.offset + run.length, stretch.end);
    const int64_t file = stretch.file + (from - stretch.begin) * stretch.element_bytes;
    if (file >= bytes_) break;
    row(file, (run.memory + from - run.offset) * stretch.element_bytes, (to - from) * stretch.element_bytes);
    if (run.offset + run.length > stretch.end) break;
    ++i;
  }
  return i;
}

size_t Copy::whole_runs(const Stretch& stretch, std::span<const MemoryRun> runs) {
  const int64_t size = stretch.element_bytes, before = runs.front().before;
  const RunSide packed{sides_.packed, -before * size, &MemoryRun::before};
  const RunSide window{sides_.window, stretch.file - stretch.begin * size, &MemoryRun::offset};
  const RunSide memory{sides_.memory, 0, &MemoryRun::memory};
  Runs work{runs, {}, {}, size, stretch.begin, stretch.end};
  if (stretch.file < 0) work.begin += (-stretch.file + size - 1) / size;
  work.end = std::min(work.end, stretch.begin + std::max<int64_t>(0, bytes_ - stretch.file) / size);
  work.to = sides_.window == nullptr ? packed : window;
  work.from = sides_.memory == nullptr ? packed : memory;
  if (!writing()) std::swap(work.to, work.from);
  const size_t done = copy_runs(work, swap_bytes_);
  if (done > 0) use((runs[done - 1].before + runs[done - 1].length - before) * size);
  return done;
}

std::byte* copy(const Piece& piece, AddressRange range, const Sides& sides) {
  if (piece.selection.count() == 0 || piece.element_bytes == 0 || range.begin >= range.end) return sides.packed;
  Copy copy(piece, range, sides);
  if (piece.selection.is_box()) {
    const Grid grid = grid_of_box(piece, sides.memory == nullptr);
    copy.axes(grid, grid.rank - 1, grid.file - range.begin, grid.memory);
  } else {
    copy.runs(piece);
  }
  return copy.end();
}

}  // namespace

void copy_window(const Piece& piece, AddressRange range, std::byte* window, Direction direction) {
  (void)copy(piece, range, {window, piece.memory, nullptr, direction});
}

std::byte* copy_packed(const Piece& piece, AddressRange range, std::byte* flat, Direction direction) {
  return copy(piece, range, {nullptr, piece.memory, flat, direction});
}

std::byte* copy_between(const Piece& piece, AddressRange range, std::byte* flat, std::byte* window,
                        Direction direction) {
  return copy(piece, range, {window, nullptr, flat, direction});
}

// Most slices are one row; others are treated as a window that contains only the slice.
void copy_slice(const Piece& piece, const Slice& slice, std::byte* flat, Direction direction) {
  const int64_t size = piece.element_bytes, end = slice.skip + slice.bytes;
  if (slice.stride == 1 && (piece.swap_bytes <= 1 || (slice.skip % size == 0 && slice.bytes % size == 0))) {
    std::byte* memory = piece.memory + slice.memory * size + slice.skip;
    const bool writing = direction == Direction::write;
    return copy_rows({writing ? flat : memory, writing ? memory : flat, 1, slice.bytes, 0, 0}, piece.swap_bytes);
  }
  Grid grid = grid_of_row(size);
  grid.add({(end + size - 1) / size, size, slice.stride * size});
  Copy copy(piece, {0, slice.bytes}, {flat, piece.memory, nullptr, direction});
  copy.axes(grid, grid.rank - 1, -slice.skip, slice.memory * size);
}

}  // namespace penstock
