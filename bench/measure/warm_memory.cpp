// Warm memory: large pages, because the hypervisor takes free blocks of their size.
#include "bench/measure/warm_memory.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "bench/provenance.hpp"

namespace penstock::bench {

Status warm_memory(const Communicator& comm, int64_t bytes) {
  constexpr size_t page = 4096;
  const int64_t share = std::min(bytes / comm->size(), available_memory() / 4 / comm->node_size());
  const auto size = static_cast<size_t>(std::max<int64_t>(share, 1));
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    (void)::madvise(memory, size, MADV_HUGEPAGE);
    for (size_t at = 0; at < size; at += page) static_cast<volatile char*>(memory)[at] = 1;
  }
  const Status together = comm->barrier();  // no rank gets the pages of another
  if (memory != MAP_FAILED) ::munmap(memory, size);
  return together;
}

}  // namespace penstock::bench
