// Tree: arithmetic of keys, and adaptation of leaves.
#include "tree.hpp"

#include <algorithm>

namespace amr {

uint64_t Key::along() const {
  uint64_t place = 0;
  for (int bit = level - 1; bit >= 0; --bit)
    place = place * 4 + static_cast<uint64_t>((y >> bit & 1) * 2 + (x >> bit & 1));
  return (place << 2 * (finest - level)) * 8 + static_cast<uint64_t>(level);
}

Key Key::beside(int side) const {
  const int n = 1 << level;
  constexpr int dy[] = {-1, 1, 0, 0}, dx[] = {0, 0, -1, 1};
  return {level, (y + dy[side] + n) % n, (x + dx[side] + n) % n};
}

Tree::Tree(std::vector<Key> leaves, int ranks) : leaves_(std::move(leaves)), ranks_(ranks) {
  std::sort(leaves_.begin(), leaves_.end());
  for (size_t i = 0; i < leaves_.size(); ++i) index_[leaves_[i]] = i;
}

Tree Tree::uniform(int ranks) {
  std::vector<Key> leaves;
  for (int y = 0; y < 1 << coarsest; ++y)
    for (int x = 0; x < 1 << coarsest; ++x) leaves.push_back({coarsest, y, x});
  return {std::move(leaves), ranks};
}

int Tree::owner(const Key& key) const {
  return static_cast<int>(index_.at(key) * static_cast<size_t>(ranks_) / leaves_.size());
}

std::vector<Key> Tree::of(int rank) const {
  std::vector<Key> mine;
  for (const Key& key : leaves_)
    if (owner(key) == rank) mine.push_back(key);
  return mine;
}

std::vector<Key> Tree::beside(const Key& key, int side) const {
  const Key same = key.beside(side);
  if (has(same)) return {same};
  if (same.level > coarsest && has(same.parent())) return {same.parent()};
  // The children that touch: the upper ones for a block below, ...
  constexpr int touching[4][2] = {{2, 3}, {0, 1}, {1, 3}, {0, 2}};
  return {same.child(touching[side][0]), same.child(touching[side][1])};
}

Tree Tree::adapted(std::vector<int> wanted) const {
  for (size_t i = 0; i < leaves_.size(); ++i)
    wanted[i] = std::clamp(wanted[i], leaves_[i].level > coarsest ? -1 : 0, leaves_[i].level < finest ? 1 : 0);
  const auto level_after = [&](size_t i) { return leaves_[i].level + wanted[i]; };
  for (bool changed = true; changed;) {
    changed = false;
    // Leaves beside something much finer are refined too; four that do not agree stay.
    for (size_t i = 0; i < leaves_.size(); ++i)
      for (int side = 0; side < 4; ++side)
        for (const Key& other : beside(leaves_[i], side))
          if (level_after(index_.at(other)) > level_after(i) + 1) {
            ++wanted[i];
            changed = true;
          }
    for (size_t i = 0; i < leaves_.size(); ++i) {
      if (wanted[i] != -1) continue;
      for (int k = 0; k < 4; ++k) {
        const Key sibling = leaves_[i].parent().child(k);
        if (has(sibling) && wanted[index_.at(sibling)] == -1) continue;
        wanted[i] = 0;
        changed = true;
        break;
      }
    }
  }
  std::vector<Key> after;
  for (size_t i = 0; i < leaves_.size(); ++i) {
    if (wanted[i] == 1)
      for (int k = 0; k < 4; ++k) after.push_back(leaves_[i].child(k));
    else if (wanted[i] == 0)
      after.push_back(leaves_[i]);
    else if (leaves_[i] == leaves_[i].parent().child(0))
      after.push_back(leaves_[i].parent());
  }
  return {std::move(after), ranks_};
}

}  // namespace amr
