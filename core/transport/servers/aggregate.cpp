// Aggregator and BlockCache: blocks of a file in memory, with a bit for each byte that was put.
#include "core/transport/servers/aggregate.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace penstock {
namespace {

constexpr int64_t min_block = 4096, max_block = 1 << 20;

// The bits of [from, to) in word W.
uint64_t mask(int64_t w, int64_t from, int64_t to) {
  const int64_t low = std::max(from - w * 64, int64_t{0}), high = std::min(to - w * 64, int64_t{64});
  const uint64_t below_high = high == 64 ? ~uint64_t{0} : (uint64_t{1} << high) - 1;
  return below_high & ~((uint64_t{1} << low) - 1);
}

// Sets or clears [from, to); returns how many bits changed.
int64_t change(std::vector<uint64_t>& bits, int64_t from, int64_t to, bool value) {
  int64_t changed = 0;
  for (int64_t w = from / 64; w * 64 < to; ++w) {
    uint64_t& word = bits[static_cast<size_t>(w)];
    const uint64_t m = mask(w, from, to);
    changed += std::popcount(value ? m & ~word : m & word);
    word = value ? word | m : word & ~m;
  }
  return changed;
}

// The first position from FROM whose bit is VALUE, at most END.
int64_t find(const std::vector<uint64_t>& bits, int64_t from, int64_t end, bool value) {
  for (int64_t w = from / 64; w * 64 < end; ++w) {
    uint64_t word = bits[static_cast<size_t>(w)];
    if (!value) word = ~word;
    word &= mask(w, from, end);
    if (word != 0) return w * 64 + std::countr_zero(word);
  }
  return end;
}

Status no_memory(int64_t bytes) {
  return {Code::memory, fmt::format("no memory for a block of {} bytes: lower buffer_bytes", bytes)};
}

// Calls f(block number, offset in block, offset in run, length) for each block that a run touches.
template <typename F>
Status each_block(int64_t block_bytes, int64_t offset, int64_t length, F f) {
  for (int64_t at = 0; at < length;) {
    const int64_t inside = (offset + at) % block_bytes, size = std::min(length - at, block_bytes - inside);
    PENSTOCK_TRY(f((offset + at) / block_bytes, inside, at, size));
    at += size;
  }
  return {};
}

}  // namespace

int64_t cache_block_bytes(int64_t buffer_bytes) {
  int64_t block = min_block;
  while (block < max_block && block * 2 * 8 <= buffer_bytes) block *= 2;
  return block;
}

Aggregator::Aggregator(Write write, int64_t buffer_bytes)
    : write_(std::move(write)),
      block_bytes_(cache_block_bytes(buffer_bytes)),
      max_blocks_(std::max<int64_t>(2, buffer_bytes / block_bytes_)) {}

Status Aggregator::put(int64_t part, int64_t offset, std::span<const std::byte> run) {
  const auto length = static_cast<int64_t>(run.size());
  if (length < block_bytes_ / 2) return put_short(part, offset, run);
  const int64_t head = (direct_alignment - offset % direct_alignment) % direct_alignment;
  const int64_t middle = (length - head) / direct_alignment * direct_alignment;
  if (middle <= 0) return put_short(part, offset, run);
  const auto cut = [&](int64_t from, int64_t size) {
    return run.subspan(static_cast<size_t>(from), static_cast<size_t>(size));
  };
  forget(part, offset + head, middle);
  PENSTOCK_TRY(put_short(part, offset, cut(0, head)));
  PENSTOCK_TRY(write_(part, offset + head, cut(head, middle)));
  return put_short(part, offset + head + middle, cut(head + middle, length - head - middle));
}

Status Aggregator::put_short(int64_t part, int64_t offset, std::span<const std::byte> run) {
  return each_block(block_bytes_, offset, static_cast<int64_t>(run.size()),
                    [&](int64_t number, int64_t inside, int64_t at, int64_t size) -> Status {
                      const Key key{part, number};
                      PENSTOCK_ASSIGN(Block * block, block_at(key));
                      std::memcpy(block->memory.get() + inside, run.data() + at, static_cast<size_t>(size));
                      block->count += change(block->put, inside, inside + size, true);
                      return block->count == block_bytes_ ? write_block(blocks_.find(key)) : Status();
                    });
}

// Bytes put earlier would later overwrite the data that now bypasses the cache.
void Aggregator::forget(int64_t part, int64_t offset, int64_t length) {
  const int64_t end = offset + length;
  for (auto at = blocks_.lower_bound({part, offset / block_bytes_}); at != blocks_.end(); ++at) {
    const int64_t base = at->first.second * block_bytes_;
    if (at->first.first != part || base >= end) return;
    Block& block = at->second;
    block.count -= change(block.put, std::max<int64_t>(0, offset - base), std::min(block_bytes_, end - base), false);
  }
}

Result<Aggregator::Block*> Aggregator::block_at(const Key& key) {
  if (last_ != nullptr && last_key_ == key) return last_;
  auto at = blocks_.find(key);
  if (at == blocks_.end()) {
    if (static_cast<int64_t>(blocks_.size()) >= max_blocks_) PENSTOCK_TRY(write_block(blocks_.find(order_.front())));
    Block block;
    if (!spare_.empty()) {
      block = std::move(spare_.back());
      spare_.pop_back();
    } else {
      block.memory = aligned_memory(block_bytes_);
      if (!block.memory) return no_memory(block_bytes_);
    }
    block.put.assign(static_cast<size_t>(block_bytes_ / 64), 0);
    block.count = 0;
    block.used = order_.insert(order_.end(), key);
    at = blocks_.emplace(key, std::move(block)).first;
    peak_blocks_ = std::max(peak_blocks_, static_cast<int64_t>(blocks_.size()));
  } else {
    order_.splice(order_.end(), order_, at->second.used);
  }
  last_ = &at->second;
  last_key_ = key;
  return last_;
}

// The block leaves the cache in any case, so that a full disk does not fill the memory too.
Status Aggregator::write_block(Blocks::iterator at) {
  Block block = std::move(at->second);
  const auto [part, number] = at->first;
  order_.erase(block.used);
  blocks_.erase(at);
  last_ = nullptr;
  Status status;
  for (int64_t from = 0; status.ok();) {
    from = find(block.put, from, block_bytes_, true);
    if (from == block_bytes_) break;
    const int64_t to = find(block.put, from, block_bytes_, false);
    status = write_(part, number * block_bytes_ + from,
                    std::span<const std::byte>(block.memory.get() + from, static_cast<size_t>(to - from)));
    from = to;
  }
  spare_.push_back(std::move(block));
  return status;
}

Status Aggregator::flush() {
  Status first;
  while (!blocks_.empty())
    if (Status status = write_block(blocks_.begin()); first.ok()) first = std::move(status);
  return first;
}

BlockCache::BlockCache(Read read, Size size, int64_t buffer_bytes)
    : read_(std::move(read)),
      size_(std::move(size)),
      block_bytes_(cache_block_bytes(buffer_bytes)),
      max_blocks_(std::max<int64_t>(2, buffer_bytes / block_bytes_)) {}

Status BlockCache::get(int64_t part, int64_t offset, std::span<std::byte> run) {
  if (static_cast<int64_t>(run.size()) >= block_bytes_) return read_(part, offset, run);
  return each_block(block_bytes_, offset, static_cast<int64_t>(run.size()),
                    [&](int64_t number, int64_t inside, int64_t at, int64_t size) -> Status {
                      PENSTOCK_ASSIGN(Block * block, block_at({part, number}));
                      const auto out = run.subspan(static_cast<size_t>(at), static_cast<size_t>(size));
                      if (inside + size > block->bytes) return read_(part, offset + at, out);  // names the end
                      std::memcpy(out.data(), block->memory.get() + inside, out.size());
                      return {};
                    });
}

Result<BlockCache::Block*> BlockCache::block_at(const Key& key) {
  auto at = blocks_.find(key);
  if (at != blocks_.end()) {
    order_.splice(order_.end(), order_, at->second.used);
    return &at->second;
  }
  Block block;
  if (static_cast<int64_t>(blocks_.size()) >= max_blocks_) {
    const auto oldest = blocks_.find(order_.front());
    block.memory = std::move(oldest->second.memory);
    order_.pop_front();
    blocks_.erase(oldest);
  } else {
    block.memory = aligned_memory(block_bytes_);
    if (!block.memory) return no_memory(block_bytes_);
  }
  PENSTOCK_ASSIGN(const int64_t end, size_(key.first));
  const int64_t base = key.second * block_bytes_;
  block.bytes = std::clamp<int64_t>(end - base, 0, block_bytes_);
  PENSTOCK_TRY(read_(key.first, base, std::span(block.memory.get(), static_cast<size_t>(block.bytes))));
  block.used = order_.insert(order_.end(), key);
  return &blocks_.emplace(key, std::move(block)).first->second;
}

}  // namespace penstock
