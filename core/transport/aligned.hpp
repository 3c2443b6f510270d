// AlignedMemory: memory that direct I/O can use without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "core/storage/storage.hpp"

namespace penstock {

struct AlignedFree {
  void operator()(std::byte* p) const { std::free(p); }
};
using AlignedMemory = std::unique_ptr<std::byte, AlignedFree>;

// Null if memory is exhausted. BYTES must be a multiple of ALIGNMENT.
inline AlignedMemory aligned_memory(int64_t bytes, int64_t alignment = direct_alignment) {
  return AlignedMemory(
      static_cast<std::byte*>(std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(bytes))));
}

}  // namespace penstock
