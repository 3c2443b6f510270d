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

// Null if memory is exhausted. BYTES must be a multiple of direct_alignment.
inline AlignedMemory aligned_memory(int64_t bytes) {
  return AlignedMemory(static_cast<std::byte*>(std::aligned_alloc(direct_alignment, static_cast<size_t>(bytes))));
}

}  // namespace penstock
