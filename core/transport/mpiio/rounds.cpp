// Rounds: merges and divides pieces.
#include "core/transport/mpiio/rounds.hpp"

#include <algorithm>

namespace penstock::mpiio {
namespace {

// Groups consecutive PIECES whose file extents do not overlap.
std::vector<std::vector<const Piece*>> groups_of(const std::vector<const Piece*>& pieces) {
  std::vector<std::vector<const Piece*>> groups;
  std::map<int64_t, int64_t> extents;  // first address to last, of the last group
  for (const Piece* piece : pieces) {
    const int64_t first = first_address(*piece), last = last_address(*piece);
    const auto after = extents.lower_bound(last);
    if (groups.empty() || (after != extents.begin() && std::prev(after)->second > first)) {
      groups.emplace_back();
      extents.clear();
    }
    groups.back().push_back(piece);
    extents[first] = last;
  }
  return groups;
}

}  // namespace

Merge::Merge(std::vector<const Piece*> pieces, int64_t begin, int64_t end) : begin_(begin), end_(end) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece* a, const Piece* b) { return first_address(*a) < first_address(*b); });
  later_.assign(pieces.begin(), pieces.end());
  begin_pieces();
}

void Merge::begin_pieces() {
  while (!later_.empty() && (active_.empty() || first_address(*later_.front()) <= active_.begin()->first.first)) {
    const Piece* piece = later_.front();
    later_.pop_front();
    Active active{SliceCursor(*piece, begin_, end_), {piece, {}}};
    if (active.cursor.next(active.stretch.slice))
      active_.emplace(std::pair(active.stretch.slice.address, piece), active);
  }
}

bool Merge::aside_first() const {
  return !set_aside_.empty() && (active_.empty() || set_aside_.front().slice.address <= active_.begin()->first.first);
}

const Stretch& Merge::front() { return aside_first() ? set_aside_.front() : active_.begin()->second.stretch; }

Stretch Merge::take() {
  if (aside_first()) {
    const Stretch stretch = set_aside_.front();
    set_aside_.pop_front();
    return stretch;
  }
  auto node = active_.extract(active_.begin());
  Active& active = node.mapped();
  const Stretch stretch = active.stretch;
  if (active.cursor.next(active.stretch.slice)) {
    node.key().first = active.stretch.slice.address;
    active_.insert(std::move(node));
  }
  begin_pieces();
  return stretch;
}

void Merge::put_back(Stretch stretch) {
  const auto at =
      std::upper_bound(set_aside_.begin(), set_aside_.end(), stretch,
                       [](const Stretch& a, const Stretch& b) { return a.slice.address < b.slice.address; });
  set_aside_.insert(at, stretch);
}

Rounds::Rounds(const std::vector<const Piece*>& pieces, const Part& part, const Limits& limits, bool ordered)
    : limits_(limits), begin_(part.virtual_base), end_(part.virtual_base + part.bytes) {
  std::vector<const Piece*> filled;
  for (const Piece* piece : pieces)
    if (piece->selection.count() > 0 && piece->element_bytes > 0) filled.push_back(piece);
  if (filled.empty()) return;
  if (limits.one_piece) {
    for (const Piece* piece : filled) groups_.emplace_back(std::vector{piece}, begin_, end_);
    return;
  }
  if (!ordered) {
    groups_.emplace_back(std::move(filled), begin_, end_);
    return;
  }
  for (std::vector<const Piece*>& group : groups_of(filled)) groups_.emplace_back(std::move(group), begin_, end_);
}

bool Rounds::stages(const Stretch& stretch) const {
  return stretch.piece->swap_bytes > 1 || (limits_.stage_scattered && !goes_alone(stretch));
}

// Whether STRETCH is large enough to move without packing.
bool Rounds::goes_alone(const Stretch& stretch) const {
  return limits_.stage_scattered && stretch.flat() && stretch.slice.bytes >= limits_.staged / 4;
}

// Elements of STRETCH that still fit; at least one in an empty round.
int64_t Rounds::room(const Round& round, const Stretch& stretch) const {
  const int64_t size = stretch.piece->element_bytes;
  int64_t elements = std::min(stretch.slice.bytes, limits_.bytes - round.bytes) / size;
  if (stages(stretch)) elements = std::min(elements, (limits_.staged - round.staged) / size);
  const int64_t entries = limits_.runs - round.entries;
  if (!stages(stretch) && stretch.slice.stride != 1)
    elements = std::min(elements, entries);
  else if (entries <= 0)
    elements = 0;
  return round.empty() ? std::max<int64_t>(elements, 1) : elements;
}

void Rounds::add(Round& round, int64_t elements) {
  Stretch stretch = groups_.front().take();
  const int64_t bytes = elements * stretch.piece->element_bytes;
  if (bytes < stretch.slice.bytes) {
    Stretch rest = stretch;
    rest.slice.address += bytes;
    rest.slice.bytes -= bytes;
    rest.slice.memory += elements * rest.slice.stride;
    groups_.front().put_back(rest);
    stretch.slice.bytes = bytes;
  }
  stretch.staged = stages(stretch);
  round.bytes += bytes;
  if (stretch.staged) round.staged += bytes;
  round.entries += stretch.slice.stride == 1 || stretch.staged ? 1 : elements;
  round.stretches.push_back(stretch);
}

bool Rounds::next(Round& round) {
  round = {};
  while (!groups_.empty() && groups_.front().empty()) groups_.pop_front();
  if (groups_.empty()) return false;
  Merge& merge = groups_.front();
  std::vector<Stretch> overlapping;
  while (!merge.empty()) {
    const Stretch head = merge.front();
    if (!round.empty()) {
      if (limits_.contiguous && head.slice.address != round.end()) break;
      if (head.slice.address < round.end()) {  // in the next round
        if (static_cast<int64_t>(overlapping.size()) >= limits_.runs) break;
        overlapping.push_back(merge.take());
        continue;
      }
      if (goes_alone(head)) break;
    }
    const int64_t elements = room(round, head);
    if (elements <= 0) break;
    add(round, elements);
    if (goes_alone(head)) break;
  }
  for (const Stretch& stretch : overlapping) merge.put_back(stretch);
  if (round.stretches.size() == 1 && round.stretches[0].flat()) {
    round.stretches[0].staged = false;
    round.staged = 0;
  }
  return true;
}

int64_t count_rounds(Rounds rounds) {
  int64_t count = 0;
  for (Round round; rounds.next(round);) ++count;
  return count;
}

}  // namespace penstock::mpiio
