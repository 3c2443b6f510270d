// AlignedMemory: posix_memalign(3), or mmap(2) and madvise(2) for huge pages, and where such memory is.
#include "core/storage/aligned.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>

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

// The addresses of our memory. It outlives every thread, since some memory is never freed.
class OwnRanges {
 public:
  void add(const std::byte* begin, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    ends_[address(begin)] = address(begin) + static_cast<uintptr_t>(bytes);
  }
  // Its length, 0 if it is not there.
  int64_t remove(const std::byte* begin) {
    const std::lock_guard lock(mutex_);
    const auto node = ends_.extract(address(begin));
    return node.empty() ? 0 : static_cast<int64_t>(node.mapped() - node.key());
  }
  bool have(std::span<const std::byte> memory) {
    const std::lock_guard lock(mutex_);
    const auto after = ends_.upper_bound(address(memory.data()));
    return after != ends_.begin() && address(memory.data()) + memory.size() <= std::prev(after)->second;
  }

 private:
  static uintptr_t address(const std::byte* p) { return reinterpret_cast<uintptr_t>(p); }

  std::mutex mutex_;
  std::map<uintptr_t, uintptr_t> ends_;  // by their beginnings
};

OwnRanges& own_ranges() {
  static auto* ranges = new OwnRanges;  // NOLINT(cppcoreguidelines-owning-memory)
  return *ranges;
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

}  // namespace

void AlignedFree::operator()(std::byte* memory) const {
  const int64_t bytes = own_ranges().remove(memory);
  if (bytes < huge_page)
    std::free(memory);
  else
    (void)::munmap(memory, static_cast<size_t>(bytes));
}

AlignedMemory aligned_memory(int64_t bytes) {
  const bool huge = bytes >= huge_page;
  void* memory = nullptr;
  if (huge)
    memory = map_huge_pages(bytes = round_up(bytes, huge_page));
  else if (::posix_memalign(&memory, direct_alignment, static_cast<size_t>(bytes)) != 0)
    return nullptr;
  if (memory == nullptr) return nullptr;
  try {
    if (bytes >= huge_pages_matter) own_ranges().add(static_cast<std::byte*>(memory), bytes);
  } catch (const std::bad_alloc&) {
    if (huge)
      (void)::munmap(memory, static_cast<size_t>(bytes));
    else
      std::free(memory);
    return nullptr;
  }
  return AlignedMemory(static_cast<std::byte*>(memory));
}

bool is_aligned(std::span<const std::byte> memory) {
  return reinterpret_cast<uintptr_t>(memory.data()) % direct_alignment == 0;
}

bool suits_direct(std::span<const std::byte> memory) {
  if (!is_aligned(memory)) return false;
  return std::ssize(memory) < huge_pages_matter || !kernel_has_huge_pages() || own_ranges().have(memory);
}

}  // namespace penstock
