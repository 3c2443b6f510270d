// Captured: memory for copies of put data, which the next puts use again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace penstock {

// BYTES of memory, or null if there is none. What is released stays mapped for the next call, so that its pages need
// not be made again, which takes several times as long as the copy. The kernel may take these pages at any time
// (MADV_FREE). The process maps at most an eighth more than it once captured at the same time. Any thread.
std::shared_ptr<std::byte[]> captured_memory(int64_t bytes);

}  // namespace penstock
