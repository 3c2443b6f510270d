// Swapping: dense runs of values in the other byte order, as fast as memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock {

inline uint8_t byte_swapped(uint8_t v) { return v; }
inline uint16_t byte_swapped(uint16_t v) { return __builtin_bswap16(v); }
inline uint32_t byte_swapped(uint32_t v) { return __builtin_bswap32(v); }
inline uint64_t byte_swapped(uint64_t v) { return __builtin_bswap64(v); }

// COUNT values from FROM to TO, which share no byte; neither need be aligned.
template <typename T>
void swap_dense(std::byte* to, const std::byte* from, int64_t count);
extern template void swap_dense<uint16_t>(std::byte*, const std::byte*, int64_t);
extern template void swap_dense<uint32_t>(std::byte*, const std::byte*, int64_t);
extern template void swap_dense<uint64_t>(std::byte*, const std::byte*, int64_t);

}  // namespace penstock
