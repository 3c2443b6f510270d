// Swapping: one loop, compiled at -O3 (see CMakeLists.txt), since -O2 does not make vectors of loops of unknown length.
#include "core/transport/swap.hpp"

#include <cstring>

namespace penstock {
namespace {

template <typename T>
[[gnu::always_inline]] inline void swap_loop(std::byte* __restrict to, const std::byte* __restrict from,
                                             int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    value = byte_swapped(value);
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

// The x86-64 of the year 2003 has no byte shuffle; a machine that has it is asked once. No function multi-versioning of
// the compiler's: its resolvers run before a sanitizer is ready.
#ifdef __x86_64__
template <typename T>
[[gnu::target("avx2")]] void swap_avx2(std::byte* __restrict to, const std::byte* __restrict from, int64_t count) {
  swap_loop<T>(to, from, count);
}
bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

}  // namespace

template <typename T>
void swap_dense(std::byte* to, const std::byte* from, int64_t count) {
#ifdef __x86_64__
  if (has_avx2()) return swap_avx2<T>(to, from, count);
#endif
  swap_loop<T>(to, from, count);
}

template void swap_dense<uint16_t>(std::byte*, const std::byte*, int64_t);
template void swap_dense<uint32_t>(std::byte*, const std::byte*, int64_t);
template void swap_dense<uint64_t>(std::byte*, const std::byte*, int64_t);

}  // namespace penstock
