// CRC-64/XZ (reflected ECMA-182), with the combination of two neighbouring blocks' sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock {

// Continue with the previous call's result; start from 0.
uint64_t crc64(std::span<const std::byte> bytes, uint64_t previous = 0);
// The same on any machine: the reference of the tests.
uint64_t crc64_by_table(std::span<const std::byte> bytes, uint64_t previous = 0);
// The CRC of A's bytes followed by B's, where B has B_BYTES. O(log b_bytes).
uint64_t crc64_combine(uint64_t a, uint64_t b, int64_t b_bytes);

}  // namespace penstock
