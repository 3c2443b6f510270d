// Copy: memcpy, and what to do where a processor makes it several times as slow as elsewhere.
#pragma once

#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penstock {

// Whether `rep movsb`, by which the kernel and the C library copy, is slow from address FROM to address TO. On AMD's
// processors with fast short rep mov (Zen 3 and later) it takes three to four times as long if TO is a few bytes after
// FROM modulo 4096. malloc returns large arrays 16 bytes after the start of a page: to read into them from the page
// cache, or from a window, is such a copy. See docs/decisions/0045.
inline bool copies_slowly(uintptr_t to, uintptr_t from) {
#ifdef __x86_64__
  constexpr uintptr_t page = 4096, near = 64;
  static const bool is_amd = __builtin_cpu_is("amd") != 0;
  const uintptr_t after = (to - from) % page;
  return is_amd && after != 0 && after < near;
#else
  (void)to;
  (void)from;
  return false;
#endif
}
inline bool copies_slowly(const std::byte* to, const std::byte* from) {
  return copies_slowly(reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from));
}

// memcpy at the same speed for all addresses. The ranges must not overlap.
inline void copy_bytes(std::byte* to, const std::byte* from, size_t bytes) {
#ifdef __x86_64__
  if (copies_slowly(to, from)) {
    constexpr size_t vectors = 4, step = vectors * sizeof(__m128i);
    for (; bytes >= step; bytes -= step, to += step, from += step) {
      __m128i held[vectors];
      for (size_t i = 0; i < vectors; ++i) held[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + i);
      for (size_t i = 0; i < vectors; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + i, held[i]);
    }
  }
#endif
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace penstock
