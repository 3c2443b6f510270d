// Coverage: a bit for each byte.
#include "core/transport/two_phase/coverage.hpp"

#include <algorithm>
#include <bit>

namespace penstock {
namespace {

constexpr int64_t word_bits = 64;
constexpr uint64_t all = ~uint64_t{0};

void set_bits(std::vector<uint64_t>& words, int64_t begin, int64_t end) {
  if (begin >= end) return;
  const auto first = static_cast<size_t>(begin / word_bits), last = static_cast<size_t>((end - 1) / word_bits);
  const uint64_t from = all << (begin % word_bits), to = all >> (word_bits - 1 - (end - 1) % word_bits);
  if (first == last) {
    words[first] |= from & to;
    return;
  }
  words[first] |= from;
  std::fill(words.begin() + static_cast<ptrdiff_t>(first) + 1, words.begin() + static_cast<ptrdiff_t>(last), all);
  words[last] |= to;
}

}  // namespace

Coverage::Coverage(AddressRange window)
    : window_(window), bits_(static_cast<size_t>((window.end - window.begin + word_bits - 1) / word_bits)) {}

void Coverage::add(const Piece& piece) {
  SliceCursor cursor(piece, window_.begin, window_.end);
  for (Slice slice; cursor.next(slice);) {
    const int64_t at = slice.address - window_.begin;
    set_bits(bits_, at, at + slice.bytes);
    bytes_ += slice.bytes;
  }
}

bool Coverage::overlaps() const {
  int64_t covered = 0;
  for (const uint64_t word : bits_) covered += std::popcount(word);
  return covered < bytes_;
}

int64_t Coverage::find(int64_t at, bool in) const {
  const int64_t size = window_.end - window_.begin;
  if (at >= size) return size;
  auto word = static_cast<size_t>(at / word_bits);
  const auto wanted = [&](size_t i) { return in ? bits_[i] : ~bits_[i]; };
  uint64_t found = wanted(word) & (all << (at % word_bits));
  while (found == 0) {
    if (++word == bits_.size()) return size;
    found = wanted(word);
  }
  return std::min(size, static_cast<int64_t>(word) * word_bits + std::countr_zero(found));
}

std::vector<Stretch> Coverage::stretches(int64_t bridge) const {
  const int64_t size = window_.end - window_.begin;
  std::vector<Stretch> found;
  for (int64_t begin = find(0, true); begin < size;) {
    const int64_t end = find(begin, false);
    const AddressRange run{window_.begin + begin, window_.begin + end};
    if (!found.empty() && run.begin - found.back().range.end < bridge) {
      found.back().range.end = run.end;
      found.back().gaps = true;
    } else {
      found.push_back({run, false});
    }
    begin = find(end, true);
  }
  return found;
}

}  // namespace penstock
