// Shuffle: bytes of equal weight together.
#include "core/codec/shuffle.hpp"

#include <algorithm>
#include <cstring>

namespace penstock {

std::vector<Filter> Shuffle::filters() const {
  constexpr int shuffle_filter = 2;
  if (!any()) return {};
  return {{shuffle_filter, {static_cast<unsigned>(element_bytes_)}}};
}

std::span<const std::byte> Shuffle::operator()(std::span<const std::byte> chunk) {
  if (!any()) return chunk;
  shuffled_.resize(chunk.size());
  const auto size = static_cast<size_t>(element_bytes_), count = chunk.size() / size;
  constexpr size_t at_once = 4096;  // elements: what is read several times stays in the cache
  for (size_t first = 0; first < count; first += at_once) {
    const size_t last = std::min(count, first + at_once);
    for (size_t b = 0; b < size; ++b)
      for (size_t i = first; i < last; ++i) shuffled_[b * count + i] = chunk[i * size + b];
  }
  std::memcpy(shuffled_.data() + count * size, chunk.data() + count * size, chunk.size() - count * size);
  return shuffled_;
}

}  // namespace penstock
