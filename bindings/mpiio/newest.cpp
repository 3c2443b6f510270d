// Newest: a map of runs by their offsets.
#include "bindings/mpiio/newest.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::mpiio {

void Newest::put(const Run& run) {
  cut(run.offset, end_of(run));
  const auto after = runs_.lower_bound(run.offset);
  Run* const before = after == runs_.begin() ? nullptr : &std::prev(after)->second;
  if (before != nullptr && end_of(*before) == run.offset && before->data + before->length == run.data)
    before->length += run.length;
  else
    runs_.emplace_hint(after, run.offset, Run{run.offset, run.data, run.length, 0});
}

void Newest::cut(int64_t begin, int64_t end) {
  auto one = runs_.upper_bound(begin);
  if (one != runs_.begin() && end_of(std::prev(one)->second) > begin) --one;
  while (one != runs_.end() && one->first < end) {
    Run& run = one->second;
    if (end_of(run) > end)  // first: nothing is lost if there is no memory
      runs_.emplace_hint(std::next(one), end, Run{end, run.data + (end - run.offset), end_of(run) - end, 0});
    if (run.offset < begin) {
      run.length = begin - run.offset;
      ++one;
    } else {
      one = runs_.erase(one);
    }
  }
}

void Newest::overlay(std::span<const Run> runs) const {
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

std::vector<Run> Newest::runs() const {
  std::vector<Run> all;
  all.reserve(runs_.size());
  for (const auto& [offset, run] : runs_) all.push_back(run);
  return all;
}

}  // namespace penstock::mpiio
