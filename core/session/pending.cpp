// Pending: capturing and resolving what was put, lent or asked for.
#include "core/session/pending.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "core/model/catalogue.hpp"
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

Status capture(Pending& pending) {
  const int64_t size = bytes(pending.type), count = pending.part.elements();
  pending.captured.reset(new (std::nothrow) std::byte[static_cast<size_t>(std::max<int64_t>(1, count * size))]);
  if (!pending.captured) return {Code::memory, fmt::format("no memory to copy {} bytes: use lend", count * size)};
  if (count > 0) {
    const Dims shape = box_shape(pending.part);
    Piece piece{0, 0, size, 0, Selection(), pending.data};
    const bool strided = pending.memory.stride.rank() > 0;
    piece.selection =
        strided ? Selection::of_box(shape, Box{Dims::filled(shape.rank(), 0), shape}, pending.memory)
                : Selection::of_box(Dims{count}, Box{Dims{0}, Dims{count}}, Memory{pending.memory.offset, Dims{1}});
    copy_window(piece, {0, count * size}, pending.captured.get(), Direction::write);
  }
  pending.data = pending.captured.get();
  pending.memory = {};
  return {};
}

std::vector<Selection> selections(const Pending& pending, const Dims& shape, const RowStart& start) {
  const Decomposition& part = pending.part;
  switch (part.form()) {
    case Decomposition::Form::runs: return {Selection::of_runs(shape, part.run_list())};
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
