// Shuffle: bytes of equal weight together.
#include "core/codec/shuffle.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace penstock {

std::vector<Filter> Shuffle::filters() const {
  constexpr int shuffle_filter = 2;
  if (!any()) return {};
  return {{shuffle_filter, {static_cast<unsigned>(element_bytes_)}}};
}

namespace {

using Bytes16 = unsigned char __attribute__((vector_size(16)));

// Compilers without the function, such as GCC 11, shuffle number by number.
#if __has_builtin(__builtin_shufflevector)
#define INTERLEAVED(...) __builtin_shufflevector(__VA_ARGS__)
#else
#define INTERLEAVED(a, ...) (a)
#endif
template <size_t size>
constexpr bool fits_vectors =
    __has_builtin(__builtin_shufflevector) && (size == 2 || size == 4 || size == 8 || size == 16);

// SIZE vectors hold 16 elements of SIZE bytes. A byte's place among them is a number: the element (four bits), then the
// byte in it. To interleave the first half of the vectors with the second rotates the bits of this number by one. After
// four rounds bytes of equal weight lie together. As many rounds more as the number has other bits undo that.
template <size_t size, int rounds>
inline void interleave(Bytes16 (&vectors)[size]) {
  Bytes16 next[size];
#pragma GCC unroll 4
  for (int round = 0; round < rounds; ++round) {
#pragma GCC unroll 8
    for (size_t i = 0; i < size / 2; ++i) {
      const Bytes16 a = vectors[i], b = vectors[i + size / 2];
      next[2 * i] = INTERLEAVED(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] = INTERLEAVED(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < size; ++i) vectors[i] = next[i];
  }
}

// Elements that are done at once: a line of the cache for each byte of an element.
constexpr size_t line = 64;

// Returns how many elements it has done.
template <size_t size>
size_t shuffle_lines(const std::byte* in, std::byte* out, size_t count) {
  Bytes16 vectors[size], lines[size][line / 16];
  size_t done = 0;
  for (; done + line <= count; done += line) {
    for (size_t part = 0; part < line / 16; ++part) {
      const std::byte* const from = in + (done + 16 * part) * size;
#pragma GCC unroll 16
      for (size_t b = 0; b < size; ++b) std::memcpy(&vectors[b], from + 16 * b, 16);
      interleave<size, 4>(vectors);
#pragma GCC unroll 16
      for (size_t b = 0; b < size; ++b) lines[b][part] = vectors[b];
    }
    for (size_t b = 0; b < size; ++b) std::memcpy(out + b * count + done, &lines[b], line);
  }
  return done;
}

template <size_t size>
size_t unshuffle_lines(const std::byte* in, std::byte* out, size_t count) {
  Bytes16 vectors[size];
  size_t done = 0;
  for (; done + line <= count; done += line)
    for (size_t part = 0; part < line / 16; ++part) {
#pragma GCC unroll 16
      for (size_t b = 0; b < size; ++b) std::memcpy(&vectors[b], in + b * count + done + 16 * part, 16);
      interleave<size, std::countr_zero(size)>(vectors);
      std::byte* const to = out + (done + 16 * part) * size;
#pragma GCC unroll 16
      for (size_t b = 0; b < size; ++b) std::memcpy(to + 16 * b, &vectors[b], 16);
    }
  return done;
}

constexpr size_t at_once = 4096;  // elements: what is read or written several times stays in the cache

template <typename Size>
void shuffle_numbers(const std::byte* in, std::byte* out, size_t count, Size size) {
  size_t done = 0;
  if constexpr (!std::is_same_v<Size, size_t>) {
    if constexpr (fits_vectors<Size::value>) done = shuffle_lines<Size::value>(in, out, count);
  }
  for (size_t first = done; first < count; first += at_once) {
    const size_t last = std::min(count, first + at_once);
    for (size_t b = 0; b < size; ++b)
      for (size_t i = first; i < last; ++i) out[b * count + i] = in[i * size + b];
  }
}

template <typename Size>
void unshuffle_numbers(const std::byte* in, std::byte* out, size_t count, Size size) {
  size_t done = 0;
  if constexpr (!std::is_same_v<Size, size_t>) {
    if constexpr (fits_vectors<Size::value>) done = unshuffle_lines<Size::value>(in, out, count);
  }
  for (size_t first = done; first < count; first += at_once) {
    const size_t last = std::min(count, first + at_once);
    for (size_t b = 0; b < size; ++b)
      for (size_t i = first; i < last; ++i) out[i * size + b] = in[b * count + i];
  }
}

// Calls BY with SIZE, which the compiler knows if it is that of numbers.
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

void unshuffle(std::span<const std::byte> bytes, size_t size, std::vector<std::byte>& out) {
  out.resize(bytes.size());
  const size_t count = bytes.size() / size, whole = count * size;
  with_size(size, [&](auto known) { unshuffle_numbers(bytes.data(), out.data(), count, known); });
  std::memcpy(out.data() + whole, bytes.data() + whole, bytes.size() - whole);
}

std::span<const std::byte> Shuffle::operator()(std::span<const std::byte> chunk) {
  if (!any()) return chunk;
  shuffled_.resize(chunk.size());
  const auto size = static_cast<size_t>(element_bytes_), count = chunk.size() / size;
  with_size(size, [&](auto known) { shuffle_numbers(chunk.data(), shuffled_.data(), count, known); });
  std::memcpy(shuffled_.data() + count * size, chunk.data() + count * size, chunk.size() - count * size);
  return shuffled_;
}

EncodedSize Shuffle::store(std::span<const std::byte> shuffled, std::span<std::byte> out) const {
  std::memcpy(out.data(), shuffled.data(), shuffled.size());
  return {std::ssize(shuffled), any() ? 2U : 1U};
}

}  // namespace penstock
