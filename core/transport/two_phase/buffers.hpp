// Buffers: reuses aligned memory, so that pages are touched for the first time only once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/units.hpp"
#include "core/storage/aligned.hpp"

namespace penstock {

class Buffer {
 public:
  Buffer() = default;
  // Null data() if memory is exhausted.
  explicit Buffer(int64_t bytes) : bytes_(round_up(bytes, direct_alignment)) { data_ = aligned_memory(bytes_); }
  std::byte* data() const { return data_.get(); }
  int64_t bytes() const { return bytes_; }
  void leak() { (void)data_.release(); }  // others may still read it at any time

 private:
  AlignedMemory data_;
  int64_t bytes_ = 0;
};

class BufferPool {
 public:
  // Returns the smallest buffer that is large enough, so that larger ones stay available.
  Buffer take(int64_t bytes) {
    size_t best = free_.size();
    for (size_t i = 0; i < free_.size(); ++i)
      if (free_[i].bytes() >= bytes && (best == free_.size() || free_[i].bytes() < free_[best].bytes())) best = i;
    if (best == free_.size()) {
      made_ += bytes;
      return Buffer(bytes);
    }
    Buffer buffer = std::move(free_[best]);
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
    return buffer;
  }
  void give(Buffer buffer) { free_.push_back(std::move(buffer)); }
  int64_t made() const { return made_; }  // bytes of all buffers ever allocated

 private:
  std::vector<Buffer> free_;
  int64_t made_ = 0;
};

}  // namespace penstock
