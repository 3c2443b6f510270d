// SharedMemory: one region of memory that all ranks of a node map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <penstock/communicator.hpp>

namespace penstock {

class SharedMemory {
 public:
  // Collective over NODE, the ranks of one node. BYTES bytes of zeros, fully reserved, so that no store can fail later.
  // Every rank has verified that it sees the same region. Null on all ranks if one of them cannot map it. It has no
  // name and disappears with the last process that maps it, however that process ends. Only if ranks cannot see each
  // other's processes it has the name of a partial file of the first rank, until all ranks have mapped it.
  static Result<std::shared_ptr<SharedMemory>> create(const Communicator& node, int64_t bytes);

  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }  // aligned to pages
  int64_t bytes() const { return bytes_; }

 private:
  SharedMemory(std::byte* data, int64_t bytes) : data_(data), bytes_(bytes) {}
  static Result<std::shared_ptr<SharedMemory>> share(const Communicator& node, int64_t bytes, bool named);

  std::byte* data_;
  int64_t bytes_;
};

}  // namespace penstock
