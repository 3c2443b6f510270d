// Portions: divides blocks, and copies data that a library does not accept in place.
#include "core/engine/portions.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/guarded.hpp"
#include "core/model/boxes.hpp"

namespace penstock {
namespace {

bool is_dense(const Selection& box) {
  int64_t step = 1;
  for (int i = box.box().count.rank() - 1; i >= 0; --i) {
    if (box.box().count[i] != 1 && box.stride()[i] != step) return false;
    step *= box.box().count[i];
  }
  return true;
}

Selection part_of(const Selection& whole, const Box& box) {
  int64_t offset = whole.memory_offset();
  for (int i = 0; i < box.start.rank(); ++i) offset += (box.start[i] - whole.box().start[i]) * whole.stride()[i];
  return Selection::of_box(whole.shape(), box, Memory{offset, whole.stride()});
}

void cut_boxes(const Claim& claim, int64_t element_bytes, const PortionLimits& limits, std::vector<Portion>& out) {
  const bool dense = claim.supplier == nullptr && is_dense(claim.selection);
  const bool direct = dense || (claim.supplier == nullptr && limits.takes != nullptr && limits.takes(claim.selection));
  std::vector<Box> boxes;
  cut_box(claim.selection.box(), (direct ? limits.direct_bytes : limits.staged_bytes) / element_bytes, boxes);
  for (const Box& box : boxes) {
    Portion portion{.selection = part_of(claim.selection, box),
                    .count = elements(box.count),
                    .memory = claim.memory,
                    .supplier = claim.supplier};
    if (dense) portion.packed = claim.memory + portion.selection.memory_offset() * element_bytes;
    out.push_back(std::move(portion));
  }
}

void cut_runs(const Claim& claim, int64_t element_bytes, const PortionLimits& limits, std::vector<Portion>& out) {
  const int64_t most = std::max<int64_t>(1, limits.staged_bytes / element_bytes);
  std::vector<Box> boxes;
  Portion portion;
  int64_t next_memory = 0;
  const auto close = [&](int64_t end) {
    if (portion.count == 0) return;
    portion.end = end;
    out.push_back(portion);
    portion.count = 0;
    boxes.clear();
  };
  for (const MemoryRun& run : claim.selection.runs())
    for (int64_t done = 0; done < run.length;) {
      if (portion.count == most || static_cast<int64_t>(boxes.size()) >= limits.boxes) close(run.offset + done);
      if (portion.count == 0) {
        portion = {claim.selection, run.offset + done, 0, 0, claim.memory, nullptr, claim.supplier};
        if (claim.supplier == nullptr) portion.packed = claim.memory + (run.memory + done) * element_bytes;
        next_memory = run.memory + done;
      }
      int64_t length = std::min(run.length - done, most - portion.count);
      if (run.memory + done != next_memory) portion.packed = nullptr;
      boxes_of_run(claim.selection.shape(), run.offset + done, length, boxes);
      if (limits.boxes == 1) length = elements(boxes.front().count);
      next_memory = run.memory + done + length;
      portion.count += length;
      done += length;
    }
  close(claim.selection.last());
}

// SIZE, of an element, is a constant or a number: a constant makes faster code.
template <typename Size>
void copy_strided(std::byte* memory, int64_t stride, int64_t count, Size size, std::byte* dense, Direction direction) {
  for (int64_t i = 0; i < count; ++i) {
    std::byte* there = memory + i * stride * size;
    std::byte* here = dense + i * size;
    std::memcpy(direction == Direction::write ? here : there, direction == Direction::write ? there : here, size);
  }
}

template <int64_t size>
using Constant = std::integral_constant<int64_t, size>;

// Requests elements that are contiguous in the block's order at once.
Status copy_supplied(const Portion& portion, int64_t element_bytes, std::byte* buffer) {
  int64_t first = 0, count = 0;
  const auto take = [&]() -> Status {
    const std::span<std::byte> bytes(buffer, static_cast<size_t>(count * element_bytes));
    if (count > 0) PENSTOCK_TRY((*portion.supplier)(first, bytes));
    buffer += bytes.size();
    return {};
  };
  Cursor cursor(portion.selection, portion.begin, portion.end);
  for (Segment segment; cursor.next(segment); count += segment.length) {
    if (segment.memory == first + count) continue;
    PENSTOCK_TRY(take());
    first = segment.memory;
    count = 0;
  }
  return take();
}

}  // namespace

std::vector<Portion> portions_of(const EngineJob& job, size_t at, const PortionLimits& limits) {
  const int64_t size = bytes(job.dataset(at).type);
  std::vector<Portion> portions;
  const int dataset = job.datasets[at];
  auto claim = std::ranges::lower_bound(job.claims, dataset, {}, &Claim::dataset);
  for (; claim != job.claims.end() && claim->dataset == dataset; ++claim)
    if (claim->selection.is_box())
      cut_boxes(*claim, size, limits, portions);
    else
      cut_runs(*claim, size, limits, portions);
  for (Portion& portion : portions) portion.supplied = job.supplied;
  return portions;
}

std::vector<Box> boxes_of(const Portion& portion) {
  if (portion.selection.is_box()) return {portion.selection.box()};
  std::vector<Box> boxes;
  Cursor cursor(portion.selection, portion.begin, portion.end);
  for (Segment segment; cursor.next(segment);)
    boxes_of_run(portion.selection.shape(), segment.offset, segment.length, boxes);
  return boxes;
}

void copy(const Portion& portion, int64_t element_bytes, std::byte* buffer, Direction direction) {
  if (portion.supplier != nullptr) {
    const Status supplied = guarded([&] { return copy_supplied(portion, element_bytes, buffer); });
    if (portion.supplied->ok()) *portion.supplied = supplied;
    return;
  }
  Cursor cursor(portion.selection, portion.begin, portion.end);
  for (Segment segment; cursor.next(segment);) {
    std::byte* memory = portion.memory + segment.memory * element_bytes;
    const auto copy_each = [&](auto size) {
      copy_strided(memory, segment.stride, segment.length, size, buffer, direction);
    };
    if (segment.stride == 1) {
      std::byte* to = direction == Direction::write ? buffer : memory;
      std::byte* from = direction == Direction::write ? memory : buffer;
      std::memcpy(to, from, static_cast<size_t>(segment.length * element_bytes));
    } else if (element_bytes == 4) {
      copy_each(Constant<4>());
    } else if (element_bytes == 8) {
      copy_each(Constant<8>());
    } else if (element_bytes == 16) {
      copy_each(Constant<16>());
    } else {
      copy_each(element_bytes);
    }
    buffer += segment.length * element_bytes;
  }
}

Result<std::vector<int64_t>> rounds_of(const EngineJob& job, const PortionLimits& limits) {
  std::vector<int64_t> rounds;
  for (size_t at = 0; at < job.datasets.size(); ++at) rounds.push_back(std::ssize(portions_of(job, at, limits)));
  PENSTOCK_TRY(job.comm->all_reduce_max(rounds));
  return rounds;
}

Result<std::vector<Dims>> largest_blocks(const EngineJob& job) {
  const int ranks = job.comm->size();
  std::vector<int64_t> extents(job.datasets.size() * max_rank, 1);
  for (const Claim& claim : job.claims) {
    const auto at = static_cast<size_t>(std::lower_bound(job.datasets.begin(), job.datasets.end(), claim.dataset) -
                                        job.datasets.begin());
    const Dims& shape = claim.selection.shape();
    for (int i = 0; i < shape.rank(); ++i) {
      const int64_t share = i == 0 ? (shape[0] + ranks - 1) / ranks : shape[i];
      int64_t& extent = extents[at * max_rank + static_cast<size_t>(i)];
      extent = std::max(extent, claim.selection.is_box() ? claim.selection.box().count[i] : share);
    }
  }
  PENSTOCK_TRY(job.comm->all_reduce_max(extents));
  std::vector<Dims> blocks;
  for (size_t at = 0; at < job.datasets.size(); ++at) {
    const auto rank = static_cast<size_t>(job.dataset(at).shape.rank());
    blocks.emplace_back(std::span(extents).subspan(at * max_rank, rank));
  }
  return blocks;
}

}  // namespace penstock
