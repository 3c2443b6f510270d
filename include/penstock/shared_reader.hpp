// SharedReader: reads a file at any time and in any order, independently on each rank. The ranks of a node share what
// they read, so that every byte is fetched from the file system once per node.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <penstock/communicator.hpp>
#include <penstock/decomposition.hpp>
#include <penstock/status.hpp>
#include <penstock/type.hpp>

namespace penstock {

struct SharedReading {
  int64_t memory_bytes = 0;  // per node, in shared memory; 0: the file size, but at most a quarter of the node's memory
  int64_t block_bytes = 1 << 20;  // bytes fetched at once; at least 4096
};

// For programs whose master hands out work dynamically: only open waits for other ranks. Blocks that are read go to the
// node's shared memory and serve all its ranks; when that memory is full, further blocks are fetched each time. Data
// that only a format's library can read (chunks, filters) goes through that library on each rank and is not shared.
class SharedReader {
 public:
  // Collective over COMM. The file or set at PATH must not change while it is read.
  static Result<SharedReader> open(const Communicator& comm, std::string path, const SharedReading& how = {});
  SharedReader(SharedReader&&) noexcept;
  SharedReader& operator=(SharedReader&&) noexcept;
  ~SharedReader();

  // Local. Reads the elements of dataset NAME in PART (boxes or runs), in its order and contiguous, to DATA, which has
  // room for them. TYPE must be the type of the dataset. Ranks may read the same elements.
  Status get(std::string_view name, ElementType type, const Decomposition& part, void* data) const;

  // Local. Bytes that this rank fetched from the file system, without those of a format's library.
  int64_t fetched_bytes() const;
  // Whether the whole file fits into the shared memory of the node.
  bool holds_all() const;

 private:
  struct State;
  explicit SharedReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace penstock
