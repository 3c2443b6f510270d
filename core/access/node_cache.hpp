// NodeCache: caches blocks of files in a node's shared memory; the first rank that needs a block fetches it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>

#include "core/comm/shared_memory.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

struct CachedFile {
  std::string path;
  int64_t bytes = 0;
};

// Reads files of INNER through the cache; writing is rejected. All functions except create are local and thread-safe.
class NodeCache {
 public:
  // Collective over NODE, with equal arguments. Caches at most MEMORY_BYTES of the files.
  static Result<std::shared_ptr<NodeCache>> create(const Communicator& node, std::vector<CachedFile> files,
                                                   int64_t memory_bytes, int64_t block_bytes);

  // Reads BYTES at OFFSET of file number FILE, which SOURCE has open.
  Status read(size_t file, int64_t offset, std::span<std::byte> bytes, StorageFile& source);
  int find(const std::string& path) const;  // -1: none of its files
  int64_t fetched_bytes() const { return fetched_; }
  bool holds_all() const { return slots_ >= blocks_; }

 private:
  NodeCache() = default;
  Status read_block(size_t file, int64_t block, int64_t from, std::span<std::byte> bytes, StorageFile& source);
  Status fetch(int64_t offset, std::span<std::byte> into, StorageFile& source);
  int64_t length_of(size_t file, int64_t block) const;

  std::vector<CachedFile> files_;
  std::vector<int64_t> first_block_;  // of each file
  int64_t block_bytes_ = 0, blocks_ = 0, slots_ = 0;
  std::shared_ptr<SharedMemory> memory_;
  std::atomic<int64_t>* next_slot_ = nullptr;
  std::atomic<int32_t>* slot_of_ = nullptr;  // of each block: a slot, or one of the states below
  std::byte* data_ = nullptr;
  std::atomic<int64_t> fetched_ = 0;  // by this rank
};

// FILES, those of CACHE being read through it.
std::shared_ptr<Files> cached_files(std::shared_ptr<Files> files, std::shared_ptr<NodeCache> cache);

}  // namespace penstock
