// SharedMemory: one stretch of memory that all ranks of a node have mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <penstock/communicator.hpp>

namespace penstock {

class SharedMemory {
 public:
  // Collective over NODE, the ranks of one node. BYTES of zeros, reserved in full, so that no store can fail later;
  // every rank has looked and seen the same cookie there. Null on all ranks where one of them cannot have it. It has no
  // name: it is gone with the last rank that has it mapped, however that ends. Only where ranks do not see each other's
  // processes does it have one, that of a partial file of the first rank's, until all have it mapped.
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
