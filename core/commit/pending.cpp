// Pending: captures and resolves blocks that were put, lent or requested.
#include "core/commit/pending.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/commit/captured.hpp"
#include "core/model/catalogue.hpp"
#include "core/model/widen.hpp"
#include "core/transport/move.hpp"

namespace penstock {
namespace {

Dims with_rows(int64_t rows, const Dims& row) {
  Dims shape{rows};
  for (const int64_t extent : row) shape.push_back(extent);
  return shape;
}

}  // namespace

Dims box_shape(const Decomposition& part) {
  switch (part.form()) {
    case Decomposition::Form::ragged: return with_rows(part.rows(), part.shape());
    case Decomposition::Form::per_rank: return with_rows(1, part.shape());
    case Decomposition::Form::boxes:
      if (part.box_list().size() == 1) return part.box_list()[0].count;
      [[fallthrough]];
    default: return part.shape();
  }
}

Status check_memory(const Decomposition& part, const Memory& memory) {
  if (memory.stride.rank() == 0 && memory.offset == 0) return {};
  const bool one_box = part.form() != Decomposition::Form::runs &&
                       (part.form() != Decomposition::Form::boxes || part.box_list().size() <= 1);
  if (!one_box) return {Code::invalid, "a memory layout goes with one box only; runs and several boxes are contiguous"};
  if (memory.stride.rank() != 0 && memory.stride.rank() != box_shape(part).rank())
    return {Code::invalid, fmt::format("the memory layout has {} dimensions, the block {}", memory.stride.rank(),
                                       box_shape(part).rank())};
  if (memory.offset < 0) return {Code::invalid, "the memory layout begins before the pointer"};
  return {};
}

namespace {

// All elements of PART at DATA, for copying from or to packed elements.
Piece whole_of(const Decomposition& part, const ElementType& type, const Memory& memory, std::byte* data) {
  const Dims shape = box_shape(part);
  const int64_t count = part.elements();
  Piece piece{0, 0, bytes(type), 0, Selection(), data};
  piece.selection = memory.stride.rank() > 0
                        ? Selection::of_box(shape, Box{Dims::filled(shape.rank(), 0), shape}, memory)
                        : Selection::of_box(Dims{count}, Box{Dims{0}, Dims{count}}, Memory{memory.offset, Dims{1}});
  return piece;
}

constexpr int64_t converted_at_once = 8192;  // elements, in a processor's cache

bool reserve(Pending& pending, int64_t size) {
  pending.captured = captured_memory(size);
  return pending.captured != nullptr;
}

// The type in which PENDING's elements are stored, if they are converted; what was lost is counted from now on.
Result<ElementType> begin_converting(Pending& pending, const Precision& precision) {
  PENSTOCK_ASSIGN(const ElementType stored, stored_type(precision, pending.type));
  pending.precision = describe(precision, pending.type);
  pending.loss = std::make_shared<Loss>();
  return stored;
}

}  // namespace

Status capture(Pending& pending, const Precision& precision) {
  const ElementType given = pending.type;
  const bool converted = converts(precision, given);
  if (converted) {
    PENSTOCK_ASSIGN(pending.type, begin_converting(pending, precision));
  }
  const int64_t count = pending.part.elements(), size = count * bytes(pending.type);
  if (!reserve(pending, size)) return {Code::memory, fmt::format("no memory to copy {} bytes: use lend", size)};
  std::byte* const to = pending.captured.get();
  const Piece from = whole_of(pending.part, given, pending.memory, pending.data);
  if (!converted && size > 0) copy_window(from, {0, size}, to, Direction::write);
  if (converted && pending.memory.stride.rank() == 0) {
    const std::byte* first = pending.data + pending.memory.offset * bytes(given);
    convert(precision, given, first, to, count, *pending.loss);
  } else if (converted) {
    std::vector<std::byte> window(static_cast<size_t>(std::min(count, converted_at_once) * bytes(given)));
    for (int64_t done = 0; done < count; done += converted_at_once) {
      const int64_t length = std::min(converted_at_once, count - done);
      copy_window(from, {done * bytes(given), (done + length) * bytes(given)}, window.data(), Direction::write);
      convert(precision, given, window.data(), to + done * bytes(pending.type), length, *pending.loss);
    }
  }
  pending.data = to;
  pending.memory = {};
  return {};
}

bool only_rounds(const Precision& precision, const ElementType& given) {
  return converts(precision, given) && !precision.packed && (!precision.type || *precision.type == given);
}

Status round_later(Pending& pending, const Precision& precision) {
  PENSTOCK_TRY(begin_converting(pending, precision).status());
  pending.rounds_to = precision.keep_bits;
  return {};
}

Status round_now(Pending& pending) {
  const Precision precision{.keep_bits = std::exchange(pending.rounds_to, 0)};
  return precision.keep_bits == 0 ? Status() : capture(pending, precision);
}

Status convert_captured(Pending& pending, const Precision& precision) {
  if (!converts(precision, pending.type)) return {};
  const std::shared_ptr<std::byte[]> before = pending.captured;
  return capture(pending, precision);
}

Status convert_supplied(Pending& pending, const Precision& precision) {
  const ElementType given = pending.type;
  if (!converts(precision, given)) return {};
  PENSTOCK_ASSIGN(pending.type, begin_converting(pending, precision));
  pending.supplier = [precision, given, stored = bytes(pending.type), loss = pending.loss,
                      supplier = std::move(pending.supplier)](int64_t first, std::span<std::byte> out) -> Status {
    const int64_t count = std::ssize(out) / stored, most = std::max<int64_t>(1, std::ssize(out) / bytes(given));
    std::vector<std::byte> window(static_cast<size_t>(std::min(count, most) * bytes(given)));
    for (int64_t done = 0; done < count; done += most) {
      const int64_t length = std::min(most, count - done);
      PENSTOCK_TRY(supplier(first + done, std::span(window).first(static_cast<size_t>(length * bytes(given)))));
      convert(precision, given, window.data(), out.data() + done * stored, length, *loss);
    }
    return {};
  };
  return {};
}

Status read_as(Pending& pending, const ElementType& type) {
  const int64_t count = pending.part.elements(), wide = bytes(pending.type);
  pending.wider = Wider{pending.type, pending.memory, pending.data};
  std::byte* end = pending.data + (pending.memory.offset + count) * wide;
  if (pending.memory.stride.rank() > 0) {
    if (!reserve(pending, count * wide))
      return {Code::memory, fmt::format("no memory to convert {} bytes: get a contiguous block", count * wide)};
    end = pending.captured.get() + count * wide;
  }
  if (count > 0) pending.data = end - count * bytes(type);
  pending.memory = {};
  pending.type = type;
  return {};
}

void finish_widening(const Pending& pending) {
  const int64_t count = pending.part.elements();
  if (!pending.wider || count == 0) return;
  const Wider& to = *pending.wider;
  std::byte* out = pending.captured ? pending.captured.get() : to.data + to.memory.offset * bytes(to.type);
  widen_in_place(pending.type, to.type, out, count);
  if (pending.captured)
    copy_window(whole_of(pending.part, to.type, to.memory, to.data), {0, count * bytes(to.type)}, out, Direction::read);
}

Selection SeenRuns::of(const Dims& shape, std::span<const Run> runs) {
  constexpr size_t max_seen = 8;
  const auto at = std::ranges::find_if(seen_, [&](const Seen& seen) {
    return seen.selection.shape() == shape && (seen.runs.data() == runs.data() || std::ranges::equal(seen.runs, runs));
  });
  if (at != seen_.end()) return at->selection;
  if (seen_.size() == max_seen) seen_.erase(seen_.begin());
  seen_.push_back({runs, Selection::of_runs(shape, runs)});
  return seen_.back().selection;
}

std::vector<Selection> selections(const Pending& pending, const Dims& shape, const RowStart& start, SeenRuns& seen) {
  const Decomposition& part = pending.part;
  switch (part.form()) {
    case Decomposition::Form::runs: return {seen.of(shape, part.run_list())};
    case Decomposition::Form::replicated:
      return {Selection::of_box(shape, Box{Dims::filled(shape.rank(), 0), shape}, pending.memory)};
    case Decomposition::Form::ragged:
    case Decomposition::Form::per_rank: {
      Box box{Dims::filled(shape.rank(), 0), box_shape(part)};
      box.start[0] = part.form() == Decomposition::Form::ragged ? start.ragged : start.rank;
      return {Selection::of_box(shape, box, pending.memory)};
    }
    case Decomposition::Form::boxes: break;
  }
  std::vector<Selection> list;
  Memory memory = pending.memory;
  for (const Box& box : part.box_list()) {
    list.push_back(Selection::of_box(shape, box, memory));
    memory.offset += elements(box.count);
  }
  return list;
}

}  // namespace penstock
