// crc64_fold: reduces the CRC of many bytes to the CRC of 16 bytes, by the carry-less multiplication of most
// processors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/crc64.hpp"

namespace penstock {

inline constexpr uint64_t crc64_polynomial = 0xC96C5795D7870F42;  // reflected ECMA-182

using Folded = std::array<std::byte, 16>;

// Checks the processor once.
bool can_fold();

// Returns bytes whose CRC from state 0 equals the CRC of BYTES from STATE.
// REQUIRES: can_fold(); the size of BYTES is a nonzero multiple of 16.
Folded crc64_fold(std::span<const std::byte> bytes, uint64_t state);
// A times B times x modulo the polynomial, all reflected.
// REQUIRES: can_fold().
uint64_t crc64_multiply_by_folding(uint64_t a, uint64_t b);
// As crc64_of_terms.
// REQUIRES: can_fold().
uint64_t crc64_fold_terms(std::span<const Crc64Term> terms, const std::byte* memory, int64_t size);

}  // namespace penstock
