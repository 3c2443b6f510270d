// RoundCall: packing, calling, unpacking.
#include "core/transport/mpiio/call.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace penstock::mpiio {
namespace {

const std::byte zeros[max_padding] = {};

// Contiguous entries in memory become one.
void add_entry(std::vector<MemoryEntry>& entries, const MemoryEntry& entry) {
  if (!entries.empty() && entry.stride == 1) {
    MemoryEntry& last = entries.back();
    if (last.stride == 1 && last.element_bytes == entry.element_bytes &&
        last.address + last.count * last.element_bytes == entry.address) {
      last.count += entry.count;
      return;
    }
  }
  entries.push_back(entry);
}

}  // namespace

Status RoundCall::prepare(Round round, int64_t unit, Direction direction, PhaseTimes& phases, int64_t padding) {
  PhaseTimer timer(phases, Phase::pack);
  round_ = std::move(round);
  direction_ = direction;
  staging_.resize(static_cast<size_t>(round_.staged));
  std::vector<MemoryEntry> entries;
  if (!header_.empty()) entries.push_back({header_.data(), unit, static_cast<int64_t>(header_.size()) / unit, 1});
  std::byte* at = staging_.data();
  for (const Stretch& stretch : round_.stretches) {
    const Slice& slice = stretch.slice;
    const int64_t size = stretch.piece->element_bytes;
    if (!stretch.staged) {
      add_entry(entries, {stretch.piece->memory + slice.memory * size, size, slice.bytes / size, slice.stride});
      continue;
    }
    if (direction == Direction::write) copy_slice(*stretch.piece, slice, at, direction);
    add_entry(entries, {at, unit, slice.bytes / unit, 1});
    staged_.push_back(stretch);
    at += slice.bytes;
  }
  for (int64_t left = padding; left > 0; left -= max_padding)
    entries.push_back({const_cast<std::byte*>(zeros), unit, std::min(left, max_padding) / unit, 1});  // only written
  bytes_ = static_cast<int64_t>(header_.size()) + round_.bytes + padding;
  PENSTOCK_ASSIGN(memory_, memory_type(entries, unit));
  return {};
}

Status RoundCall::prepare_read(std::span<std::byte> memory) {
  direction_ = Direction::read;
  bytes_ = std::ssize(memory);
  PENSTOCK_ASSIGN(memory_, memory_type({{memory.data(), 1, bytes_, 1}}, 1));
  return {};
}

Status RoundCall::start(const Cell& cell, MPI_File file, int64_t offset) {
  static std::byte nothing;
  Call call{file, offset, &nothing, 0, MPI_BYTE};
  if (memory_.count > 0) {
    call.memory = memory_.address;
    call.count = memory_.count;
    call.type = memory_.type.get();
  }
  const Status status = access_.start(cell, call);
  started_ = status.ok();
  return status;
}

Status RoundCall::finish(PhaseTimes& phases) {
  started_ = false;
  PENSTOCK_ASSIGN(const int64_t moved, access_.finish());
  if (bytes_ > 0 && moved != bytes_)  // in ROMIO, an empty split call leaves the count of the previous call
    return {direction_ == Direction::write ? Code::io : Code::damaged,
            fmt::format("MPI-IO moved {} bytes of {}", moved, bytes_)};
  if (direction_ == Direction::write) return {};
  PhaseTimer timer(phases, Phase::pack);
  std::byte* at = staging_.data();
  for (const Stretch& stretch : staged_) {
    copy_slice(*stretch.piece, stretch.slice, at, direction_);
    at += stretch.slice.bytes;
  }
  return {};
}

}  // namespace penstock::mpiio
