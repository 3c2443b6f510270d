// Alone: what one rank keeps of its own independent writes.
#include "bindings/mpiio/alone.hpp"

#include <algorithm>
#include <cstring>

#include <penstock/phase.hpp>

namespace penstock::mpiio {

int64_t Alone::bytes() const {
  constexpr int64_t node = sizeof(Run) + 48;
  return data_bytes_ + std::ssize(runs_) * node;
}

bool Alone::keep(std::span<const Run> runs) {
  const int64_t bytes = bytes_of(runs);
  std::byte* to = arena_.take(bytes);
  if (to == nullptr) return false;
  if (runs_.empty()) since_ = now();
  data_bytes_ += bytes;
  for (const Run& run : runs) {
    std::memcpy(to, run.data, static_cast<size_t>(run.length));
    cut(run.offset, end_of(run));
    const auto after = runs_.lower_bound(run.offset);
    Run* const before = after == runs_.begin() ? nullptr : &std::prev(after)->second;
    if (before != nullptr && end_of(*before) == run.offset && before->data + before->length == to)
      before->length += run.length;
    else
      runs_.emplace_hint(after, run.offset, Run{run.offset, to, run.length, 0});
    to += run.length;
  }
  return true;
}

void Alone::drop(std::span<const Run> runs) {
  if (runs_.empty()) return;
  for (const Run& run : runs) cut(run.offset, end_of(run));
}

void Alone::overlay(std::span<const Run> runs) const {
  if (runs_.empty()) return;
  for (const Run& run : runs) {
    auto one = runs_.upper_bound(run.offset);
    if (one != runs_.begin() && end_of(std::prev(one)->second) > run.offset) --one;
    for (; one != runs_.end() && one->first < end_of(run); ++one) {
      const int64_t begin = std::max(run.offset, one->first), end = std::min(end_of(run), end_of(one->second));
      std::memcpy(run.data + (begin - run.offset), one->second.data + (begin - one->first),
                  static_cast<size_t>(end - begin));
    }
  }
}

std::vector<Run> Alone::runs() const {
  std::vector<Run> all;
  all.reserve(runs_.size());
  for (const auto& [offset, run] : runs_) all.push_back(run);
  return all;
}

void Alone::cut(int64_t begin, int64_t end) {
  auto one = runs_.upper_bound(begin);
  if (one != runs_.begin() && end_of(std::prev(one)->second) > begin) --one;
  while (one != runs_.end() && one->first < end) {
    const Run run = one->second;
    one = runs_.erase(one);
    if (run.offset < begin) runs_.emplace_hint(one, run.offset, Run{run.offset, run.data, begin - run.offset, 0});
    if (end_of(run) > end)
      one = runs_.emplace_hint(one, end, Run{end, run.data + (end - run.offset), end_of(run) - end, 0});
  }
}

}  // namespace penstock::mpiio
