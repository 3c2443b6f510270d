// Kernels: each loop is compiled twice, for any x86-64 processor and for AVX2; the processor is tested once. Compiled
// at -O3 (see CMakeLists.txt), since -O2 does not vectorise byte swaps.
#include "core/transport/kernels.hpp"

#include <cstring>

#include "core/base/copy.hpp"

namespace penstock {
namespace {

// Loops are types, so that both compilations use one template. The compiler's function multi-versioning is not
// suitable: its resolvers run before a sanitizer is ready.
#define PENSTOCK_INLINE [[gnu::always_inline]] static inline

constexpr size_t vector = 32;
constexpr size_t max_inlined = 1024;  // bytes; above, the C library's memcpy is equally fast (see docs/decisions/0012)

inline uint16_t byte_swapped(uint16_t v) { return __builtin_bswap16(v); }
inline uint32_t byte_swapped(uint32_t v) { return __builtin_bswap32(v); }
inline uint64_t byte_swapped(uint64_t v) { return __builtin_bswap64(v); }

// Plain bytes. The last vector of a row overlaps the previous one, so that no loop for the rest is needed.
struct Plain {
  template <size_t n>
  PENSTOCK_INLINE void fixed(std::byte* __restrict to, const std::byte* __restrict from) {
    std::memcpy(to, from, n);
  }

  template <size_t n>
  PENSTOCK_INLINE void ends(std::byte* __restrict to, const std::byte* __restrict from, size_t bytes) {
    fixed<n>(to, from);
    fixed<n>(to + bytes - n, from + bytes - n);
  }

  PENSTOCK_INLINE void row(std::byte* __restrict to, const std::byte* __restrict from, size_t bytes) {
    if (bytes > max_inlined && !copies_slowly(to, from)) {
      std::memcpy(to, from, bytes);
    } else if (bytes >= vector) {
      for (size_t at = 0; at + vector < bytes; at += vector) fixed<vector>(to + at, from + at);
      fixed<vector>(to + bytes - vector, from + bytes - vector);
    } else if (bytes >= 16) {
      ends<16>(to, from, bytes);
    } else if (bytes >= 8) {
      ends<8>(to, from, bytes);
    } else if (bytes >= 4) {
      ends<4>(to, from, bytes);
    } else {
      for (size_t at = 0; at < bytes; ++at) to[at] = from[at];
    }
  }
};

template <typename T>
struct Swapped {
  template <size_t n>
  PENSTOCK_INLINE void fixed(std::byte* __restrict to, const std::byte* __restrict from) {
    for (size_t at = 0; at < n; at += sizeof(T)) {
      T value;
      std::memcpy(&value, from + at, sizeof value);
      value = byte_swapped(value);
      std::memcpy(to + at, &value, sizeof value);
    }
  }

  PENSTOCK_INLINE void row(std::byte* __restrict to, const std::byte* __restrict from, size_t bytes) {
    if (bytes < vector) {
      for (size_t at = 0; at < bytes; at += sizeof(T)) fixed<sizeof(T)>(to + at, from + at);
      return;
    }
    for (size_t at = 0; at + vector < bytes; at += vector) fixed<vector>(to + at, from + at);
    fixed<vector>(to + bytes - vector, from + bytes - vector);
  }
};

// Loops over rows or runs.
template <typename Kind, size_t n>
struct FixedRows {
  PENSTOCK_INLINE void run(const Rows& rows) {
    std::byte* to = rows.to;
    const std::byte* from = rows.from;
    for (int64_t i = 0; i < rows.count; ++i, to += rows.to_step, from += rows.from_step)
      Kind::template fixed<n>(to, from);
  }
};

template <typename Kind>
struct AnyRows {
  PENSTOCK_INLINE void run(const Rows& rows) {
    std::byte* to = rows.to;
    const std::byte* from = rows.from;
    const auto bytes = static_cast<size_t>(rows.bytes);
    for (int64_t i = 0; i < rows.count; ++i, to += rows.to_step, from += rows.from_step) Kind::row(to, from, bytes);
  }
};

template <typename Kind>
struct AnyRuns {
  PENSTOCK_INLINE size_t run(const Runs& all) {
    const RunSide to = all.to, from = all.from;
    const int64_t size = all.element_bytes;
    size_t done = 0;
    for (const MemoryRun& run : all.runs) {
      if (run.offset < all.begin || run.offset + run.length > all.end) break;
      Kind::row(to.base + (to.shift + run.*to.at * size), from.base + (from.shift + run.*from.at * size),
                static_cast<size_t>(run.length * size));
      ++done;
    }
    return done;
  }
};

#ifdef __x86_64__
bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
template <typename Loop, typename Work>
[[gnu::target("avx2")]] auto run_avx2(const Work& work) {
  return Loop::run(work);
}
#endif

template <typename Loop, typename Work>
auto run(const Work& work) {
#ifdef __x86_64__
  if (has_avx2()) return run_avx2<Loop>(work);
#endif
  return Loop::run(work);
}

void copy_plain(const Rows& rows) {
  if (rows.count == 1) return run<AnyRows<Plain>>(rows);
  switch (rows.bytes) {
    case 1: return run<FixedRows<Plain, 1>>(rows);
    case 2: return run<FixedRows<Plain, 2>>(rows);
    case 4: return run<FixedRows<Plain, 4>>(rows);
    case 8: return run<FixedRows<Plain, 8>>(rows);
    case 16: return run<FixedRows<Plain, 16>>(rows);
    case 32: return run<FixedRows<Plain, 32>>(rows);
    case 64: return run<FixedRows<Plain, 64>>(rows);
    default: return run<AnyRows<Plain>>(rows);
  }
}

template <typename T>
void copy_swapped(const Rows& rows) {
  if (rows.bytes == sizeof(T)) return run<FixedRows<Swapped<T>, sizeof(T)>>(rows);
  if (rows.bytes == 2 * sizeof(T)) return run<FixedRows<Swapped<T>, 2 * sizeof(T)>>(rows);
  run<AnyRows<Swapped<T>>>(rows);
}

}  // namespace

void copy_rows(const Rows& rows, int64_t swap_bytes) {
  if (rows.to_step == rows.bytes && rows.from_step == rows.bytes && rows.count > 1)
    return copy_rows({rows.to, rows.from, 1, rows.count * rows.bytes, 0, 0}, swap_bytes);
  switch (swap_bytes) {
    case 2: return copy_swapped<uint16_t>(rows);
    case 4: return copy_swapped<uint32_t>(rows);
    case 8: return copy_swapped<uint64_t>(rows);
    default: return copy_plain(rows);
  }
}

size_t copy_runs(const Runs& runs, int64_t swap_bytes) {
  switch (swap_bytes) {
    case 2: return run<AnyRuns<Swapped<uint16_t>>>(runs);
    case 4: return run<AnyRuns<Swapped<uint32_t>>>(runs);
    case 8: return run<AnyRuns<Swapped<uint64_t>>>(runs);
    default: return run<AnyRuns<Plain>>(runs);
  }
}

}  // namespace penstock
