// NodeCache: a slot for each requested block, while slots last. A block never leaves its slot, so readers need no lock:
// a block is absent, being fetched by one rank, in its slot, or uncached for the rest of the time.
#include "core/access/node_cache.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/units.hpp"

namespace penstock {
namespace {

// Shared memory starts as zeros: a block's entry is its slot + FIRST_SLOT.
constexpr int32_t absent = 0, fetching = 1, uncached = 2, first_slot = 3;
static_assert(std::atomic<int32_t>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);

constexpr int64_t page = 4096;
int64_t whole_pages(int64_t bytes) { return round_up(bytes, page); }

class CachedHandle : public StorageFile {
 public:
  CachedHandle(StorageFilePtr inner, std::shared_ptr<NodeCache> cache, size_t file)
      : inner_(std::move(inner)), cache_(std::move(cache)), file_(file) {}
  Status write(int64_t, std::span<const std::byte>) override { return refused(); }
  Status read(int64_t offset, std::span<std::byte> bytes) override {
    return cache_->read(file_, offset, bytes, *inner_);
  }
  Status sync() override { return refused(); }
  Status close() override { return inner_->close(); }

 private:
  static Status refused() { return {Code::internal, "a file that is read through a node's memory is written"}; }
  StorageFilePtr inner_;
  std::shared_ptr<NodeCache> cache_;
  size_t file_;
};

class CachedFiles final : public Files {
 public:
  CachedFiles(std::shared_ptr<Files> inner, std::shared_ptr<NodeCache> cache)
      : inner_(std::move(inner)), cache_(std::move(cache)) {}
  Result<StorageFilePtr> open(const std::string& path, IoMode mode, bool writable) override {
    const int file = cache_->find(path);
    PENSTOCK_ASSIGN(StorageFilePtr inner, inner_->open(path, file < 0 ? mode : IoMode(Io::buffered), writable));
    if (file < 0 || writable) return inner;
    return StorageFilePtr(std::make_unique<CachedHandle>(std::move(inner), cache_, static_cast<size_t>(file)));
  }
  Result<FileStat> stat(const std::string& path) override { return inner_->stat(path); }

 private:
  std::shared_ptr<Files> inner_;
  std::shared_ptr<NodeCache> cache_;
};

}  // namespace

Result<std::shared_ptr<NodeCache>> NodeCache::create(const Communicator& node, std::vector<CachedFile> files,
                                                     int64_t memory_bytes, int64_t block_bytes) {
  std::shared_ptr<NodeCache> cache(new NodeCache);
  cache->files_ = std::move(files);
  cache->block_bytes_ = whole_pages(block_bytes);
  for (const CachedFile& file : cache->files_) {
    cache->first_block_.push_back(cache->blocks_);
    cache->blocks_ += (file.bytes + cache->block_bytes_ - 1) / cache->block_bytes_;
  }
  if (cache->blocks_ > std::numeric_limits<int32_t>::max() - first_slot)
    return Status(Code::invalid, fmt::format("blocks of {} bytes are too small for files of so many", block_bytes));
  cache->slots_ = std::min(cache->blocks_, memory_bytes / cache->block_bytes_);
  const int64_t table = whole_pages(static_cast<int64_t>(sizeof(std::atomic<int64_t>)) +
                                    cache->blocks_ * static_cast<int64_t>(sizeof(std::atomic<int32_t>)));
  PENSTOCK_ASSIGN(cache->memory_, SharedMemory::create(node, table + cache->slots_ * cache->block_bytes_));
  if (!cache->memory_)
    return Status(Code::memory,
                  fmt::format("the node has no {} bytes of shared memory: less memory_bytes, or a larger /dev/shm",
                              table + cache->slots_ * cache->block_bytes_));
  std::byte* at = cache->memory_->data();
  cache->next_slot_ = reinterpret_cast<std::atomic<int64_t>*>(at);
  cache->slot_of_ = reinterpret_cast<std::atomic<int32_t>*>(at + sizeof(std::atomic<int64_t>));
  cache->data_ = at + table;
  return cache;
}

int NodeCache::find(const std::string& path) const {
  const auto found =
      std::find_if(files_.begin(), files_.end(), [&](const CachedFile& file) { return file.path == path; });
  return found == files_.end() ? -1 : static_cast<int>(found - files_.begin());
}

int64_t NodeCache::length_of(size_t file, int64_t block) const {
  return std::min(block_bytes_, files_[file].bytes - block * block_bytes_);
}

Status NodeCache::read(size_t file, int64_t offset, std::span<std::byte> bytes, StorageFile& source) {
  if (offset < 0 || offset + std::ssize(bytes) > files_[file].bytes)
    return Status(Code::damaged,
                  fmt::format("'{}' ends before byte {}", files_[file].path, offset + std::ssize(bytes)));
  while (!bytes.empty()) {
    const int64_t block = offset / block_bytes_, from = offset % block_bytes_;
    const int64_t length = std::min(length_of(file, block) - from, std::ssize(bytes));
    PENSTOCK_TRY(read_block(file, block, from, bytes.first(static_cast<size_t>(length)), source));
    bytes = bytes.subspan(static_cast<size_t>(length));
    offset += length;
  }
  return {};
}

Status NodeCache::fetch(int64_t offset, std::span<std::byte> into, StorageFile& source) {
  fetched_ += std::ssize(into);
  return source.read(offset, into);
}

Status NodeCache::read_block(size_t file, int64_t block, int64_t from, std::span<std::byte> bytes,
                             StorageFile& source) {
  std::atomic<int32_t>& entry = slot_of_[first_block_[file] + block];
  int32_t state = entry.load(std::memory_order_acquire);
  if (state == absent && entry.compare_exchange_strong(state, fetching, std::memory_order_acquire)) {
    const int64_t slot = next_slot_->load() < slots_ ? next_slot_->fetch_add(1) : slots_;
    Status status;
    if (slot < slots_)
      status = fetch(block * block_bytes_, {data_ + slot * block_bytes_, static_cast<size_t>(length_of(file, block))},
                     source);
    // After a failure other ranks fetch it themselves and report their own result.
    state = slot < slots_ && status.ok() ? static_cast<int32_t>(slot) + first_slot : uncached;
    entry.store(state, std::memory_order_release);
    PENSTOCK_TRY(status);
  }
  // The fetching rank is reading a file, as this rank would.
  while (state == fetching || state == absent) {
    std::this_thread::yield();
    state = entry.load(std::memory_order_acquire);
  }
  if (state == uncached) return fetch(block * block_bytes_ + from, bytes, source);
  std::memcpy(bytes.data(), data_ + (state - first_slot) * block_bytes_ + from, bytes.size());
  return {};
}

std::shared_ptr<Files> cached_files(std::shared_ptr<Files> files, std::shared_ptr<NodeCache> cache) {
  return std::make_shared<CachedFiles>(std::move(files), std::move(cache));
}

}  // namespace penstock
