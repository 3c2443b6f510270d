// Arena: blocks of memory, counted over all arenas.
#include "bindings/mpiio/arena.hpp"

#include <algorithm>
#include <atomic>

#include "core/commit/captured.hpp"

namespace penstock::mpiio {
namespace {

constexpr int64_t arena_block = 1 << 20;
std::atomic<int64_t> arenas = 0;

}  // namespace

int64_t Arena::in_process() { return arenas; }

std::byte* Arena::take(int64_t bytes) {
  if (blocks_.empty() || free_ < bytes) {
    const int64_t size = std::max(bytes, arena_block);
    auto memory = captured_memory(size);
    if (memory == nullptr) return nullptr;
    blocks_.push_back({std::move(memory), size});
    arenas += size;
    free_ = size;
  }
  std::byte* const at = blocks_.back().memory.get() + (blocks_.back().bytes - free_);
  free_ -= bytes;
  return at;
}

void Arena::clear() {
  for (; !blocks_.empty(); blocks_.pop_back()) arenas -= blocks_.back().bytes;
  free_ = 0;
}

}  // namespace penstock::mpiio
