// CRC-64/XZ (reflected ECMA-182), including the combination of sums of adjacent blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock {

// Continues from the result of the previous call; starts from 0.
uint64_t crc64(std::span<const std::byte> bytes, uint64_t previous = 0);
// Same result on any machine: the reference for tests.
uint64_t crc64_by_table(std::span<const std::byte> bytes, uint64_t previous = 0);
// The CRC of the bytes of A followed by those of B, where B has B_BYTES bytes. O(log b_bytes).
uint64_t crc64_combine(uint64_t a, uint64_t b, int64_t b_bytes);

// The CRC without its inversions is linear: the CRC of the xor of two messages of equal length is the xor of their
// CRCs, and the CRC of zeros is 0. So a rank that holds some bytes of a block can compute their share of the block's
// sum. Starts from 0.
uint64_t crc64_linear(std::span<const std::byte> bytes, uint64_t previous = 0);
// Converts between the CRC of BYTES bytes and their linear CRC; it is its own inverse.
uint64_t crc64_from_linear(uint64_t linear, int64_t bytes);

// Converts the linear CRC of a message to the CRC of the message followed by a number of zeros. Construction O(log
// bytes); application takes a few nanoseconds.
class Crc64Zeros {
 public:
  Crc64Zeros() = default;
  explicit Crc64Zeros(int64_t bytes);
  uint64_t after(uint64_t linear) const;
  int64_t bytes() const { return bytes_; }
  uint64_t factor() const { return factor_; }

 private:
  int64_t bytes_ = -1;
  uint64_t factor_ = 0;
};

// A few bytes of a message that is otherwise zeros. They are at AT in memory. FACTOR is that of Crc64Zeros for the
// bytes of the message from the first of them to the end; Crc64Zeros(n).after(factor) is that of a term n bytes before.
struct Crc64Term {
  int64_t at = 0;
  uint64_t factor = 0;
};
// The linear CRC of a message with TERMS of SIZE bytes (1, 2, 4 or 8) at MEMORY. One or two nanoseconds a term.
uint64_t crc64_of_terms(std::span<const Crc64Term> terms, const std::byte* memory, int64_t size);

}  // namespace penstock
