// SharedReader: a file that the ranks of each node read at any time, in any order and by turns of their own, where every byte
// is fetched from the file system once for each node.
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
  int64_t memory_bytes =
      0;  // of each node, in memory that its ranks share; 0: the file, but at most a quarter of the node
  int64_t block_bytes = 1 << 20;  // fetched at once; from 4096 on
};

// For programs whose master hands out work as it comes: no call but open waits for other ranks. What is read first goes into
// the node's memory, block by block, and comes from there for all its ranks; when that is full, further blocks are fetched each
// time. What only a format's library can read (chunks, filters) goes through that library on each rank, and is not shared.
class SharedReader {
 public:
  // Collective over COMM. The file or set at PATH must not change while it is read.
  static Result<SharedReader> open(const Communicator& comm, std::string path, const SharedReading& how = {});
  SharedReader(SharedReader&&) noexcept;
  SharedReader& operator=(SharedReader&&) noexcept;
  ~SharedReader();

  // Local. The elements of dataset NAME that PART names (boxes or runs), in its order and contiguous, to DATA, which holds as many
  // of TYPE: the type that the dataset has. Ranks may read the same elements.
  Status get(std::string_view name, ElementType type, const Decomposition& part, void* data) const;

  // Local: what this rank has fetched from the file system, without what a format's library did.
  int64_t fetched_bytes() const;
  // Whether the whole file fits into the memory that the node's ranks share.
  bool holds_all() const;

 private:
  struct State;
  explicit SharedReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace penstock
