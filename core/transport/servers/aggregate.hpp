// Aggregator and BlockCache: combine many short runs of a file into few large calls, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <penstock/status.hpp>

#include "core/storage/aligned.hpp"

namespace penstock {

// The block size of a cache of BUFFER_BYTES: a power of two from 4 KiB to 1 MiB; several blocks fit in the cache.
int64_t cache_block_bytes(int64_t buffer_bytes);

// Write-behind: short runs are collected in blocks of the file, aligned in file and memory. A complete block is written
// at once; if memory is short, the least recently used block is written. Only bytes that were put are written, so
// several aggregators, on any nodes, may share a file and even its blocks. If runs overlap, the last put counts.
class Aggregator {
 public:
  using Write = std::function<Status(int64_t part, int64_t offset, std::span<const std::byte> bytes)>;
  Aggregator(Write write, int64_t buffer_bytes);

  // Runs of LARGE bytes are passed on directly, except for ends that direct I/O cannot write and that adjacent runs may
  // complete.
  Status put(int64_t part, int64_t offset, std::span<const std::byte> run);
  Status flush();
  int64_t peak_buffered() const { return peak_blocks_ * block_bytes_; }

 private:
  using Key = std::pair<int64_t, int64_t>;  // part, block number
  struct Block {
    AlignedMemory memory;
    std::vector<uint64_t> put;  // one bit for each byte
    int64_t count = 0;          // of the bits
    std::list<Key>::iterator used;
  };
  using Blocks = std::map<Key, Block>;

  Status put_short(int64_t part, int64_t offset, std::span<const std::byte> run);
  void forget(int64_t part, int64_t offset, int64_t length);
  Result<Block*> block_at(const Key& key);
  Status write_block(Blocks::iterator at);

  Write write_;
  int64_t block_bytes_, max_blocks_;
  Blocks blocks_;
  std::list<Key> order_;  // least recently used first
  std::vector<Block> spare_;
  Block* last_ = nullptr;  // for LAST_KEY_, where the next run usually belongs
  Key last_key_;
  int64_t peak_blocks_ = 0;
};

// Reading: serves runs of several ranks from blocks that are read once.
class BlockCache {
 public:
  // BYTES may be cut short at the end of the file: the function returns the size of PART.
  using Read = std::function<Status(int64_t part, int64_t offset, std::span<std::byte> bytes)>;
  using Size = std::function<Result<int64_t>(int64_t part)>;
  BlockCache(Read read, Size size, int64_t buffer_bytes);
  Status get(int64_t part, int64_t offset, std::span<std::byte> run);

 private:
  using Key = std::pair<int64_t, int64_t>;
  struct Block {
    AlignedMemory memory;
    int64_t bytes = 0;
    std::list<Key>::iterator used;
  };
  Result<Block*> block_at(const Key& key);

  Read read_;
  Size size_;
  int64_t block_bytes_, max_blocks_;
  std::map<Key, Block> blocks_;
  std::list<Key> order_;
};

}  // namespace penstock
