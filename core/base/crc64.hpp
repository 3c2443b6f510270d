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

// The CRC without its inversions is linear: that of two messages of one length added (xor) is the sum of theirs, and
// that of zeros is 0. So whoever has some bytes of a block can make their share of the block's sum. Start from 0.
uint64_t crc64_linear(std::span<const std::byte> bytes, uint64_t previous = 0);
// The CRC of BYTES bytes from their linear one; and the other way round, as it is its own inverse.
uint64_t crc64_from_linear(uint64_t linear, int64_t bytes);

// Makes of the linear CRC of a message that of the message followed by so many zeros. O(log bytes) to make, a few
// nanoseconds to apply.
class Crc64Zeros {
 public:
  Crc64Zeros() = default;
  explicit Crc64Zeros(int64_t bytes);
  uint64_t after(uint64_t linear) const;
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_ = -1;
  uint64_t factor_ = 0;
};

}  // namespace penstock
