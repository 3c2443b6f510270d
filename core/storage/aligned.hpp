// AlignedMemory: memory that direct I/O can use without a copy, on huge pages where the kernel has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/storage/storage.hpp"

namespace penstock {

struct AlignedFree {
  void operator()(std::byte* memory) const;
};
using AlignedMemory = std::unique_ptr<std::byte, AlignedFree>;

// Null if memory is exhausted; its contents are undefined. From 2 MiB on, the kernel is asked for huge pages, and up to
// 32 MiB of freed memory are kept for the next call. Any thread.
AlignedMemory aligned_memory(int64_t bytes);

// Of a direct write or read. Shorter ones take as long from small pages.
inline constexpr int64_t huge_pages_matter = 256 << 10;

bool is_aligned(std::span<const std::byte> memory);  // to direct_alignment

// Whether MEMORY is aligned and a copy on huge pages would be no better for a direct write or read: it is of
// aligned_memory, or shorter than that, or the kernel has no huge pages. A device gets pages of 4 KiB one by one, which
// took up to 1.4 times as long as the same bytes on huge pages in a virtual machine: see docs/decisions/0047.
bool suits_direct(std::span<const std::byte> memory);

}  // namespace penstock
