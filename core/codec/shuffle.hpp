// Shuffle: HDF5's own filter of that name, which makes numbers easier to encode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/encoding.hpp"

namespace penstock {

class Shuffle {
 public:
  explicit Shuffle(int64_t element_bytes) : element_bytes_(element_bytes) {}
  bool any() const { return element_bytes_ > 1; }
  std::vector<Filter> filters() const;  // one, or none for elements of one byte
  // The first bytes of all elements, then the second ones, and so on. Bytes after the last whole element stay. Valid
  // until the next call, or as long as CHUNK.
  std::span<const std::byte> operator()(std::span<const std::byte> chunk);
  // A chunk that the filter behind this one would not make smaller: SHUFFLED, as it is, at OUT.
  EncodedSize store(std::span<const std::byte> shuffled, std::span<std::byte> out) const;

 private:
  int64_t element_bytes_;
  std::vector<std::byte> shuffled_;
};

// Undoes the filter for elements of SIZE bytes, into OUT.
void unshuffle(std::span<const std::byte> bytes, size_t size, std::vector<std::byte>& out);

}  // namespace penstock
