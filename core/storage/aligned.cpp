// AlignedMemory: aligned_alloc(3), or mmap(2) and madvise(2) for huge pages, and where such memory is.
#include "core/storage/aligned.hpp"

#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "core/base/units.hpp"

namespace penstock {
namespace {

constexpr int64_t huge_page = 2 << 20;

// Of [never], [madvise] and [always], which one the machine has.
bool kernel_has_huge_pages() {
  static const bool has = [] {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.find('[') != std::string::npos && text.find("[never]") == std::string::npos;
  }();
  return has;
}

// A mapping of its own: malloc would keep the advice for what it puts there later, and each small thing would take a
// huge page. BYTES is a multiple of huge_page. Null if memory is exhausted.
std::byte* map_huge_pages(int64_t bytes) {
  const int64_t with_margin = bytes + huge_page - direct_alignment;
  void* const mapped =
      ::mmap(nullptr, static_cast<size_t>(with_margin), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const int64_t before = -static_cast<int64_t>(reinterpret_cast<uintptr_t>(mapped)) & (huge_page - 1);
  const int64_t after = with_margin - before - bytes;
  if (before > 0) (void)::munmap(begin, static_cast<size_t>(before));
  if (after > 0) (void)::munmap(begin + before + bytes, static_cast<size_t>(after));
  (void)::madvise(begin + before, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  return begin + before;
}

// Where our memory is, from huge_pages_matter on. A few mappings are kept for the next caller, since the kernel clears
// the pages of a new one.
class Memory {
 public:
  // Null if memory is exhausted.
  std::byte* take(int64_t bytes) {
    const bool huge = bytes >= huge_page;
    std::byte* memory = huge ? kept(bytes = round_up(bytes, huge_page)) : nullptr;
    if (memory != nullptr) return memory;
    memory = huge ? map_huge_pages(bytes) : allocate(bytes);
    if (memory == nullptr || bytes < huge_pages_matter) return memory;
    try {
      const std::lock_guard lock(mutex_);
      ends_[address(memory)] = address(memory) + static_cast<uintptr_t>(bytes);
    } catch (const std::bad_alloc&) {
      free(memory, bytes);
      return nullptr;
    }
    return memory;
  }

  void give(std::byte* memory) {
    int64_t bytes = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto found = ends_.find(address(memory));
      if (found != ends_.end()) {
        bytes = static_cast<int64_t>(found->second - found->first);
        if (bytes >= huge_page && keep({memory, bytes})) return;
        ends_.erase(found);
      }
    }
    free(memory, bytes);
  }

  bool has(std::span<const std::byte> memory) {
    const std::lock_guard lock(mutex_);
    const auto after = ends_.upper_bound(address(memory.data()));
    return after != ends_.begin() && address(memory.data()) + memory.size() <= std::prev(after)->second;
  }

 private:
  struct Mapping {
    std::byte* memory = nullptr;
    int64_t bytes = 0;
  };
  static constexpr int64_t most_kept = 16 << 20;

  static uintptr_t address(const std::byte* p) { return reinterpret_cast<uintptr_t>(p); }
  static std::byte* allocate(int64_t bytes) {
    return static_cast<std::byte*>(
        std::aligned_alloc(direct_alignment, static_cast<size_t>(round_up(bytes, direct_alignment))));
  }
  static void free(std::byte* memory, int64_t bytes) {
    if (bytes >= huge_page)
      (void)::munmap(memory, static_cast<size_t>(bytes));
    else
      std::free(memory);
  }

  bool keep(Mapping mapping) {
    int64_t sum = mapping.bytes;
    Mapping* empty = nullptr;
    for (Mapping& one : kept_) {
      sum += one.bytes;
      if (one.bytes == 0) empty = &one;
    }
    if (empty == nullptr || sum > most_kept) return false;
    *empty = mapping;
    return true;
  }

  std::byte* kept(int64_t bytes) {
    const std::lock_guard lock(mutex_);
    for (Mapping& one : kept_)
      if (one.bytes >= bytes && one.bytes <= 2 * bytes) return std::exchange(one, {}).memory;
    return nullptr;
  }

  std::mutex mutex_;
  std::map<uintptr_t, uintptr_t> ends_;  // by their beginnings
  std::array<Mapping, 4> kept_;
};

// It outlives every thread: threads may still write when the program ends.
Memory& own_memory() {
  static auto* memory = new Memory;  // NOLINT(cppcoreguidelines-owning-memory)
  return *memory;
}

}  // namespace

void AlignedFree::operator()(std::byte* memory) const { own_memory().give(memory); }

AlignedMemory aligned_memory(int64_t bytes) { return AlignedMemory(own_memory().take(bytes)); }

bool is_aligned(std::span<const std::byte> memory) {
  return reinterpret_cast<uintptr_t>(memory.data()) % direct_alignment == 0;
}

bool suits_direct(std::span<const std::byte> memory) {
  if (!is_aligned(memory)) return false;
  return std::ssize(memory) < huge_pages_matter || !kernel_has_huge_pages() || own_memory().has(memory);
}

}  // namespace penstock
