// Tree: a square cut into equal blocks of cells, finer where it has to be; every rank knows the whole tree, and who has
// which block.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace amr {

inline constexpr int cells = 8;                 // along each side of a block
inline constexpr int coarsest = 2, finest = 5;  // a level l has 2^l blocks along each side

struct Key {
  int level = 0, y = 0, x = 0;
  // Where a curve through all blocks comes by; blocks within a block follow one another.
  uint64_t along() const;
  bool operator==(const Key&) const = default;
  bool operator<(const Key& other) const { return along() < other.along(); }
  Key parent() const { return {level - 1, y / 2, x / 2}; }
  Key child(int i) const { return {level + 1, 2 * y + i / 2, 2 * x + i % 2}; }
  // The block beside it, across the square's border where need be. SIDE: 0 below, 1 above, 2 left, 3 right.
  Key beside(int side) const;
};

// The blocks that are not cut further, in the order of the curve, dealt out to the ranks in even shares.
class Tree {
 public:
  Tree(std::vector<Key> leaves, int ranks);
  static Tree uniform(int ranks);

  const std::vector<Key>& leaves() const { return leaves_; }
  bool has(const Key& key) const { return index_.contains(key); }
  int owner(const Key& key) const;
  std::vector<Key> of(int rank) const;
  // The leaves that touch SIDE of KEY: one as fine or coarser, or two that are finer.
  std::vector<Key> beside(const Key& key, int side) const;
  // WANTED of each leaf: 1 finer, -1 coarser where all four of a parent want it, 0 as it is. Neighbours differ by one
  // level at most.
  Tree adapted(std::vector<int> wanted) const;

 private:
  std::vector<Key> leaves_;
  std::map<Key, std::size_t> index_;
  int ranks_;
};

}  // namespace amr
