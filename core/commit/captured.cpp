// Captured: a list of blocks that nobody uses.
#include "core/commit/captured.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

namespace penstock {
namespace {

constexpr size_t page = 4096, huge_page = 2 << 20;
constexpr size_t min_kept = 256 << 10;  // malloc keeps smaller blocks by itself

struct Block {
  std::byte* data = nullptr;
  size_t bytes = 0;
};

class Blocks {
 public:
  Block take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->bytes >= bytes && it->bytes / 2 <= bytes && (best == free_.end() || it->bytes < best->bytes)) best = it;
    Block block{nullptr, bytes};
    if (best != free_.end()) {
      block = *best;
      free_.erase(best);
    } else {
      const size_t most = std::max(most_, used_ + bytes);
      while (!free_.empty() && mapped_ + bytes > most + most / 8) unmap_oldest();
      free_.reserve(count_ + 1);  // give() must not fail
      void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (data == MAP_FAILED) return {};
      if (bytes >= huge_page) (void)::madvise(data, bytes, MADV_HUGEPAGE);  // fewer faults; kernels may have none
      ++count_;
      mapped_ += bytes;
      most_ = most;
      block.data = static_cast<std::byte*>(data);
    }
    used_ += block.bytes;
    return block;
  }

  void give(Block block) {
    (void)::madvise(block.data, block.bytes, MADV_FREE);  // older kernels keep the pages
    const std::lock_guard lock(mutex_);
    used_ -= block.bytes;
    free_.push_back(block);
  }

 private:
  void unmap_oldest() {
    ::munmap(free_.front().data, free_.front().bytes);
    mapped_ -= free_.front().bytes;
    --count_;
    free_.erase(free_.begin());
  }

  std::mutex mutex_;
  std::vector<Block> free_;                  // the oldest first
  size_t count_ = 0;                         // of all blocks
  size_t used_ = 0, mapped_ = 0, most_ = 0;  // bytes; the most that was used at the same time
};

Blocks& blocks() {
  static auto* const all = new Blocks;  // files may be closed at the program's end
  return *all;
}

}  // namespace

std::shared_ptr<std::byte[]> captured_memory(int64_t bytes) {
  const size_t size = (static_cast<size_t>(std::max<int64_t>(1, bytes)) + page - 1) / page * page;
  try {
    if (size < min_kept) return std::shared_ptr<std::byte[]>(new std::byte[size]);
    const Block block = blocks().take(size);
    if (block.data == nullptr) return nullptr;
    return {block.data, [block](std::byte*) { blocks().give(block); }};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace penstock
