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

#ifdef __SANITIZE_ADDRESS__
constexpr bool has_mappings = false;  // the sanitizer watches what malloc gives
#else
constexpr bool has_mappings = true;
#endif

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

std::byte* allocate(int64_t bytes) {
  return static_cast<std::byte*>(
      std::aligned_alloc(direct_alignment, static_cast<size_t>(round_up(bytes, direct_alignment))));
}

// Where our memory is, from huge_pages_matter on. Freed mappings are kept for the next caller, since the kernel clears
// the pages of a new one.
class Memory {
 public:
  // Null if memory is exhausted.
  std::byte* take(int64_t bytes) {
    if (bytes < huge_pages_matter) return allocate(bytes);
    const std::lock_guard lock(mutex_);
    if (!has_mappings || bytes < huge_page) return noted(allocate(bytes), bytes);
    bytes = round_up(bytes, huge_page);
    Range* best = nullptr;
    for (Range& one : kept_)
      if (one.bytes >= bytes && one.bytes <= (best == nullptr ? 2 * bytes : best->bytes)) best = &one;
    if (best != nullptr) return std::exchange(*best, {}).begin;
    std::byte* memory = map_huge_pages(bytes);
    if (memory == nullptr) {
      for (Range& one : kept_) unmap(one);
      memory = map_huge_pages(bytes);
    }
    return noted(memory, bytes);
  }

  void give(std::byte* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = bytes_.find(memory);
    if (found == bytes_.end() || !has_mappings || found->second < huge_page) {
      if (found != bytes_.end()) bytes_.erase(found);
      std::free(memory);
      return;
    }
    Range range{memory, found->second};
    if (range.bytes > most_kept) {
      unmap(range);
      return;
    }
    std::swap(range, kept_[next_++ % kept_.size()]);  // with the oldest
    unmap(range);
    int64_t sum = 0;
    for (size_t age = 1; age <= kept_.size(); ++age) {
      Range& one = kept_[(next_ - age) % kept_.size()];
      if (sum + one.bytes > most_kept) unmap(one);
      sum += one.bytes;
    }
  }

  bool has(std::span<const std::byte> memory) {
    const std::lock_guard lock(mutex_);
    const auto after = bytes_.upper_bound(memory.data());
    if (after == bytes_.begin()) return false;
    const auto& [begin, bytes] = *std::prev(after);
    return memory.data() + memory.size() <= begin + bytes;
  }

 private:
  struct Range {
    std::byte* begin = nullptr;
    int64_t bytes = 0;
  };
  static constexpr int64_t most_kept = 32 << 20;

  std::byte* noted(std::byte* memory, int64_t bytes) {
    if (memory == nullptr) return nullptr;
    try {
      bytes_[memory] = bytes;
    } catch (const std::bad_alloc&) {
      if (has_mappings && bytes >= huge_page)
        (void)::munmap(memory, static_cast<size_t>(bytes));
      else
        std::free(memory);
      return nullptr;
    }
    return memory;
  }

  void unmap(Range& range) {
    if (range.begin == nullptr) return;
    bytes_.erase(range.begin);
    (void)::munmap(range.begin, static_cast<size_t>(range.bytes));
    range = {};
  }

  std::mutex mutex_;
  std::map<const std::byte*, int64_t> bytes_;  // by their beginnings, the kept ones too
  std::array<Range, 8> kept_;                  // freed; a ring, with gaps
  size_t next_ = 0;
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
