// Arena: copies of data that is kept back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace penstock::mpiio {

class Arena {
 public:
  Arena() = default;
  ~Arena() { clear(); }
  Arena(Arena&& other) noexcept { swap(other); }
  Arena& operator=(Arena&& other) noexcept {
    swap(other);
    return *this;
  }
  std::byte* take(int64_t bytes);  // null if there is no memory
  void clear();
  static int64_t in_process();  // bytes of the blocks of all arenas

 private:
  struct Block {
    std::shared_ptr<std::byte[]> memory;
    int64_t bytes = 0;
  };
  void swap(Arena& other) {
    std::swap(blocks_, other.blocks_);
    std::swap(free_, other.free_);
  }

  std::vector<Block> blocks_;
  int64_t free_ = 0;  // of the last block
};

}  // namespace penstock::mpiio
