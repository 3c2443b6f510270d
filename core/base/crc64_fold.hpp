// crc64_fold: makes the CRC of many bytes that of 16, by the carry-less multiplication that most processors have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock {

inline constexpr uint64_t crc64_polynomial = 0xC96C5795D7870F42;  // reflected ECMA-182

using Folded = std::array<std::byte, 16>;

// Asked once.
bool can_fold();

// Bytes whose CRC from state 0 is the one of BYTES from STATE.
// REQUIRES: can_fold(); BYTES are a multiple of 16, not 0.
Folded crc64_fold(std::span<const std::byte> bytes, uint64_t state);
// A times B times x modulo the polynomial, all reflected.
// REQUIRES: can_fold().
uint64_t crc64_multiply_by_folding(uint64_t a, uint64_t b);

}  // namespace penstock
