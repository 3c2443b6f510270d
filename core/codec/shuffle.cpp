// Shuffle: bytes of equal weight together.
#include "core/codec/shuffle.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace penstock {

std::vector<Filter> Shuffle::filters() const {
  constexpr int shuffle_filter = 2;
  if (!any()) return {};
  return {{shuffle_filter, {static_cast<unsigned>(element_bytes_)}}};
}

namespace {

// SIZE is known to the compiler for the sizes of numbers, which makes vectors of the loops.
template <typename Size>
void shuffle(const std::byte* in, std::byte* out, size_t count, Size size) {
  constexpr size_t at_once = 4096;  // elements: what is read several times stays in the cache
  for (size_t first = 0; first < count; first += at_once) {
    const size_t last = std::min(count, first + at_once);
    for (size_t b = 0; b < size; ++b)
      for (size_t i = first; i < last; ++i) out[b * count + i] = in[i * size + b];
  }
}

template <typename Size>
void unshuffle(const std::byte* in, std::byte* out, size_t count, Size size) {
  for (size_t first = 0; first < count; first += 256) {
    const size_t last = std::min(count, first + 256);
    for (size_t b = 0; b < size; ++b)
      for (size_t i = first; i < last; ++i) out[i * size + b] = in[b * count + i];
  }
}

// Calls BY with SIZE, as a constant where numbers have it.
template <typename By>
void with_size(size_t size, const By& by) {
  switch (size) {
    case 2: by(std::integral_constant<size_t, 2>()); break;
    case 4: by(std::integral_constant<size_t, 4>()); break;
    case 8: by(std::integral_constant<size_t, 8>()); break;
    case 16: by(std::integral_constant<size_t, 16>()); break;
    default: by(size);
  }
}

}  // namespace

std::vector<std::byte> unshuffled(std::span<const std::byte> bytes, size_t size) {
  std::vector<std::byte> out(bytes.size());
  const size_t count = bytes.size() / size, whole = count * size;
  with_size(size, [&](auto known) { unshuffle(bytes.data(), out.data(), count, known); });
  std::memcpy(out.data() + whole, bytes.data() + whole, bytes.size() - whole);
  return out;
}

std::span<const std::byte> Shuffle::operator()(std::span<const std::byte> chunk) {
  if (!any()) return chunk;
  shuffled_.resize(chunk.size());
  const auto size = static_cast<size_t>(element_bytes_), count = chunk.size() / size;
  with_size(size, [&](auto known) { shuffle(chunk.data(), shuffled_.data(), count, known); });
  std::memcpy(shuffled_.data() + count * size, chunk.data() + count * size, chunk.size() - count * size);
  return shuffled_;
}

EncodedSize Shuffle::store(std::span<const std::byte> shuffled, std::span<std::byte> out) const {
  std::memcpy(out.data(), shuffled.data(), shuffled.size());
  return {std::ssize(shuffled), any() ? 2U : 1U};
}

}  // namespace penstock
