// Runs: the walk through views and buffers, and what transports get.
#include "bindings/mpiio/runs.hpp"

#include <algorithm>

namespace penstock::mpiio {

View::View() : flat_(flat(MPI_BYTE)) {}

View::View(int64_t displacement, MPI_Datatype etype, MPI_Datatype filetype)
    : displacement_(displacement), etype_(etype), filetype_(filetype), flat_(flat(filetype)) {
  MPI_Count bytes = 1;
  MPI_Type_size_x(etype, &bytes);
  etype_bytes_ = std::max<int64_t>(1, bytes);
}

int64_t View::place(int64_t at) const {
  if (flat_->size == 0) return displacement_;
  const int64_t tile = displacement_ + at / flat_->size * flat_->extent, in = at % flat_->size;
  const auto run = std::ranges::upper_bound(flat_->runs, in, {}, &Flat::Run::before) - 1;
  return tile + run->at + (in - run->before);
}

int64_t View::before(int64_t offset) const {
  if (flat_->size == 0 || offset <= displacement_) return 0;
  const int64_t distance = offset - displacement_;
  if (flat_->extent <= 0) return flat_->size;
  const Flat::Run &first_run = flat_->runs.front(), &last_run = flat_->runs.back();
  if (first_run.at < 0 || last_run.at + last_run.length > flat_->extent) {  // parts of several tiles lie before OFFSET
    int64_t low = 0, high = (std::max<int64_t>(0, distance - first_run.at) / flat_->extent + 1) * flat_->size;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (place(middle) < offset)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  const int64_t in = distance % flat_->extent;
  int64_t data = distance / flat_->extent * flat_->size;
  for (const Flat::Run& run : flat_->runs) {
    if (run.at >= in) break;
    data += std::min(run.length, in - run.at);
  }
  return data;
}

template <typename Visit>
void View::walk(int64_t at, int64_t length, Visit visit) const {
  if (flat_->size == 0 || length == 0) return;
  if (flat_->dense()) return visit(displacement_ + flat_->runs[0].at + at, length);
  int64_t tile = displacement_ + at / flat_->size * flat_->extent, in = at % flat_->size;
  auto run = std::ranges::upper_bound(flat_->runs, in, {}, &Flat::Run::before) - 1;
  while (length > 0) {
    const int64_t skip = in - run->before, here = std::min(length, run->length - skip);
    visit(tile + run->at + skip, here);
    length -= here;
    in += here;
    if (in == flat_->size) {
      tile += flat_->extent;
      in = 0;
      run = flat_->runs.begin();
    } else {
      ++run;
    }
  }
}

namespace {

// Hands out the memory of a buffer in the order of its data.
class Memory {
 public:
  explicit Memory(const Buffer& buffer) : type_(*buffer.type), item_(buffer.memory) {
    dense_ = type_.dense();
    if (dense_ && !type_.runs.empty()) item_ += type_.runs[0].at;
  }
  // At most LENGTH bytes that lie together; the number of them is in LENGTH afterwards.
  std::byte* next(int64_t& length) {
    if (dense_) {
      std::byte* const at = item_;
      item_ += length;
      return at;
    }
    const Flat::Run& run = type_.runs[run_];
    std::byte* const at = item_ + run.at + skip_;
    length = std::min(length, run.length - skip_);
    skip_ += length;
    if (skip_ == run.length) {
      skip_ = 0;
      if (++run_ == type_.runs.size()) {
        run_ = 0;
        item_ += type_.extent;
      }
    }
    return at;
  }

 private:
  const Flat& type_;
  std::byte* item_;
  bool dense_ = false;
  size_t run_ = 0;
  int64_t skip_ = 0;
};

}  // namespace

std::vector<Run> runs_of(const View& view, int64_t at, const Buffer& buffer) {
  std::vector<Run> runs;
  if (buffer.bytes() == 0) return runs;
  Memory memory(buffer);
  view.walk(at, buffer.bytes(), [&](int64_t offset, int64_t length) {
    while (length > 0) {
      int64_t here = length;
      std::byte* const data = memory.next(here);
      Run* const last = runs.empty() ? nullptr : &runs.back();
      if (last != nullptr && last->offset + last->length == offset && last->data + last->length == data)
        last->length += here;
      else
        runs.push_back({offset, data, here, 0});
      offset += here;
      length -= here;
    }
  });
  return runs;
}

int64_t bytes_of(std::span<const Run> runs) {
  int64_t bytes = 0;
  for (const Run& run : runs) bytes += run.length;
  return bytes;
}

void Hull::add(const Hull& other) {
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

Hull hull_of(std::span<const Run> runs) {
  Hull hull;
  for (const Run& run : runs) hull.add({run.offset, run.offset + run.length});
  return hull;
}

std::vector<Run> without_overlaps(std::vector<Run> runs) {
  const auto end = [](const Run& run) { return run.offset + run.length; };
  bool sorted = true, apart = true;
  for (size_t i = 1; i < runs.size() && sorted; ++i) {
    sorted = runs[i - 1].offset <= runs[i].offset;
    apart = apart && end(runs[i - 1]) <= runs[i].offset;
  }
  if (sorted && apart) return runs;
  std::ranges::stable_sort(runs, {}, &Run::offset);
  apart = true;
  for (size_t i = 1; i < runs.size() && apart; ++i) apart = end(runs[i - 1]) <= runs[i].offset;
  if (apart) return runs;
  // A heap of the runs that begin before the current byte: the one of the latest call is what is written there.
  std::vector<size_t> open;
  const auto older = [&](size_t a, size_t b) {
    return runs[a].call != runs[b].call ? runs[a].call < runs[b].call : a < b;
  };
  std::vector<Run> result;
  int64_t at = runs[0].offset;
  for (size_t next = 0; next < runs.size() || !open.empty();) {
    while (!open.empty() && end(runs[open.front()]) <= at) {
      std::ranges::pop_heap(open, older);
      open.pop_back();
    }
    if (open.empty()) {
      if (next == runs.size()) break;
      at = std::max(at, runs[next].offset);
    }
    for (; next < runs.size() && runs[next].offset <= at; ++next) {
      open.push_back(next);
      std::ranges::push_heap(open, older);
    }
    if (open.empty() || end(runs[open.front()]) <= at) continue;
    const Run& top = runs[open.front()];
    const int64_t until = next < runs.size() ? std::min(end(top), runs[next].offset) : end(top);
    std::byte* const data = top.data + (at - top.offset);
    if (!result.empty() && end(result.back()) == at && result.back().data + result.back().length == data &&
        result.back().call == top.call)
      result.back().length += until - at;
    else
      result.push_back({at, data, until - at, top.call});
    at = until;
  }
  return result;
}

void Ranges::add(Hull range) {
  auto next = ends_.upper_bound(range.first);
  if (next != ends_.begin() && std::prev(next)->second >= range.first) --next;
  while (next != ends_.end() && next->first <= range.last) {
    range.first = std::min(range.first, next->first);
    range.last = std::max(range.last, next->second);
    next = ends_.erase(next);
  }
  ends_.emplace_hint(next, range.first, range.last);
}

std::vector<Hull> Ranges::list() const {
  std::vector<Hull> all;
  for (const auto& [first, last] : ends_) all.push_back({first, last});
  return all;
}

void Ranges::take_out_of(std::vector<Run>& runs) const {
  const auto end = [](const Run& run) { return run.offset + run.length; };
  if (runs.empty()) return;
  const auto first_behind = [&](int64_t at) {  // that ends behind it
    const auto next = ends_.upper_bound(at);
    return next != ends_.begin() && std::prev(next)->second > at ? std::prev(next) : next;
  };
  auto range = first_behind(runs.front().offset);
  if (range == ends_.end() || range->first >= end(runs.back())) return;
  std::vector<Run> left;
  for (const Run& run : runs) {
    while (range != ends_.end() && range->second <= run.offset) ++range;
    int64_t at = run.offset;
    const auto keep = [&](int64_t until) {
      if (at < until) left.push_back({at, run.data + (at - run.offset), until - at, run.call});
    };
    for (auto one = range; one != ends_.end() && one->first < end(run); ++one) {
      keep(one->first);
      at = one->second;
    }
    keep(end(run));
  }
  runs = std::move(left);
}

std::vector<std::vector<Run>> layers_of(std::vector<Run> runs, size_t most) {
  if (!std::ranges::is_sorted(runs, {}, &Run::offset)) std::ranges::stable_sort(runs, {}, &Run::offset);
  std::vector<std::vector<Run>> layers(1);
  for (const Run& run : runs) {
    const auto room = std::ranges::find_if(layers, [&](const std::vector<Run>& layer) {
      return layer.empty() || layer.back().offset + layer.back().length <= run.offset;
    });
    if (room != layers.end())
      room->push_back(run);
    else if (layers.size() == most)
      return {};
    else
      layers.push_back({run});
  }
  return layers;
}

namespace {

// How many runs from the first on have equal lengths, and equal distances in the file and in memory.
size_t regular(std::span<const Run> runs) {
  if (runs.size() < 2) return runs.size();
  const int64_t length = runs[0].length, distance = runs[1].offset - runs[0].offset;
  const auto apart = [&](size_t i) {
    return reinterpret_cast<intptr_t>(runs[i].data) - reinterpret_cast<intptr_t>(runs[i - 1].data);
  };
  size_t n = 1;
  while (n < runs.size() && runs[n].length == length && runs[n].offset - runs[n - 1].offset == distance &&
         apart(n) == apart(1) && apart(1) >= length)
    ++n;
  return n;
}

Piece box_of(std::span<const Run> runs) {
  const int64_t rows = std::ssize(runs), length = runs[0].length, distance = runs[1].offset - runs[0].offset;
  const int64_t in_memory = reinterpret_cast<intptr_t>(runs[1].data) - reinterpret_cast<intptr_t>(runs[0].data);
  Piece piece;
  piece.address = runs[0].offset;
  piece.memory = runs[0].data;
  piece.selection =
      Selection::of_box({rows, distance}, {{0, 0}, {rows, length}}, penstock::Memory::strided({in_memory, 1}));
  return piece;
}

Piece list_of(std::span<const Run> runs) {
  Piece piece;
  piece.memory = std::ranges::min(runs, {}, &Run::data).data;
  std::vector<MemoryRun> list;
  list.reserve(runs.size());
  int64_t before = 0;
  for (const Run& run : runs) {
    list.push_back({run.offset - runs[0].offset,
                    reinterpret_cast<intptr_t>(run.data) - reinterpret_cast<intptr_t>(piece.memory), run.length,
                    before});
    before += run.length;
  }
  piece.address = runs[0].offset;
  const int64_t end = runs.back().offset + runs.back().length - piece.address;
  piece.selection = Selection::of_memory_runs({end}, std::move(list));
  return piece;
}

}  // namespace

std::vector<Piece> pieces_of(std::span<const Run> runs) {
  constexpr size_t worth_a_box = 16;
  std::vector<Piece> pieces;
  size_t listed = 0;
  for (size_t at = 0; at < runs.size();) {
    const size_t rows = regular(runs.subspan(at));
    if (rows >= worth_a_box) {
      if (listed < at) pieces.push_back(list_of(runs.subspan(listed, at - listed)));
      pieces.push_back(box_of(runs.subspan(at, rows)));
      listed = at + rows;
    }
    at += std::max<size_t>(1, rows < worth_a_box ? rows - (rows > 1) : rows);
  }
  if (listed < runs.size()) pieces.push_back(list_of(runs.subspan(listed)));
  return pieces;
}

}  // namespace penstock::mpiio
