// Tree: a square divided into equal blocks of cells, refined where needed. Every rank knows the whole tree, and which
// rank has which block.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace amr {

inline constexpr int cells = 8;                 // along each side of a block
inline constexpr int coarsest = 2, finest = 5;  // level l has 2^l blocks along each side

struct Key {
  int level = 0, y = 0, x = 0;
  // The position on a curve through all blocks; blocks within a block are consecutive.
  uint64_t along() const;
  bool operator==(const Key&) const = default;
  bool operator<(const Key& other) const { return along() < other.along(); }
  Key parent() const { return {level - 1, y / 2, x / 2}; }
  Key child(int i) const { return {level + 1, 2 * y + i / 2, 2 * x + i % 2}; }
  // The adjacent block, across the periodic boundary if needed. SIDE: 0 below, 1 above, 2 left, 3 right.
  Key beside(int side) const;
};

// The blocks that are not refined further, in the order of the curve, distributed evenly over the ranks.
class Tree {
 public:
  Tree(std::vector<Key> leaves, int ranks);
  static Tree uniform(int ranks);

  const std::vector<Key>& leaves() const { return leaves_; }
  bool has(const Key& key) const { return index_.contains(key); }
  int owner(const Key& key) const;
  std::vector<Key> of(int rank) const;
  // The leaves adjacent to SIDE of KEY: one of the same size or coarser, or two finer ones.
  std::vector<Key> beside(const Key& key, int side) const;
  // WANTED for each leaf: 1 finer, -1 coarser if all four of a parent want it, 0 unchanged. Neighbours differ by at
  // most one level.
  Tree adapted(std::vector<int> wanted) const;

 private:
  std::vector<Key> leaves_;
  std::map<Key, std::size_t> index_;
  int ranks_;
};

}  // namespace amr
