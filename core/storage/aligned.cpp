// AlignedMemory: posix_memalign(3) and madvise(2), and where such memory is.
#include "core/storage/aligned.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>

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
  void remove(const std::byte* begin) {
    const std::lock_guard lock(mutex_);
    ends_.erase(address(begin));
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

}  // namespace

void AlignedFree::operator()(std::byte* memory) const {
  own_ranges().remove(memory);
  std::free(memory);
}

AlignedMemory aligned_memory(int64_t bytes) {
  const bool huge = bytes >= huge_page;
  void* memory = nullptr;
  const int64_t alignment = huge ? huge_page : direct_alignment;
  if (::posix_memalign(&memory, static_cast<size_t>(alignment), static_cast<size_t>(bytes)) != 0) return nullptr;
  AlignedMemory made(static_cast<std::byte*>(memory));
  if (huge) (void)::madvise(memory, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  try {
    if (bytes >= huge_pages_matter) own_ranges().add(made.get(), bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return made;
}

bool is_aligned(std::span<const std::byte> memory) {
  return reinterpret_cast<uintptr_t>(memory.data()) % direct_alignment == 0;
}

bool suits_direct(std::span<const std::byte> memory) {
  if (!is_aligned(memory)) return false;
  return std::ssize(memory) < huge_pages_matter || !kernel_has_huge_pages() || own_ranges().have(memory);
}

}  // namespace penstock
