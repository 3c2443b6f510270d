// Field: upwind steps, strips between blocks of different sizes, and moving blocks when the tree changes.
#include "field.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <set>

namespace amr {
namespace {

constexpr double wind_y = 0.5, wind_x = 1.0;
constexpr double time_step = 0.4 / ((1 << finest) * cells * (wind_y + wind_x));
constexpr int steps_of_a_tree = 4;

// Exchanges data between all ranks, in an order that both sides know.
std::vector<double> all_to_all(MPI_Comm comm, const std::vector<std::vector<double>>& out,
                               const std::vector<int>& expected) {
  std::vector<int> counts, from, to;
  std::vector<double> packed;
  int total = 0;
  for (const auto& one : out) {
    counts.push_back(static_cast<int>(one.size()));
    to.push_back(static_cast<int>(packed.size()));
    packed.insert(packed.end(), one.begin(), one.end());
  }
  for (const int count : expected) {
    from.push_back(total);
    total += count;
  }
  std::vector<double> in(static_cast<size_t>(total));
  MPI_Alltoallv(packed.data(), counts.data(), to.data(), MPI_DOUBLE, in.data(), expected.data(), from.data(),
                MPI_DOUBLE, comm);
  return in;
}

double start_value(const Key& key, int j, int i) {
  const double h = 1.0 / ((1 << key.level) * cells);
  const double y = (key.y * cells + j + 0.5) * h - 0.3, x = (key.x * cells + i + 0.5) * h - 0.3;
  return std::exp(-150 * (x * x + y * y));
}

// The row or column of BLOCK at SIDE.
Strip border(const Block& block, int side) {
  Strip strip;
  for (int k = 0; k < cells; ++k) {
    const int row = side == 0 ? 0 : side == 1 ? cells - 1 : k, column = side == 2 ? 0 : side == 3 ? cells - 1 : k;
    strip[static_cast<size_t>(k)] = block[static_cast<size_t>(row * cells + column)];
  }
  return strip;
}

constexpr int opposite(int side) { return side ^ 1; }

// Puts FROM's strip at the places of TO's cells that touch it; the other places stay.
void lay(const Strip& strip, const Key& from, const Key& to, int side, Strip& out) {
  const bool upright = side >= 2;
  const int at_from = upright ? from.y : from.x, at_to = upright ? to.y : to.x;
  for (size_t k = 0; k < cells; ++k) {
    if (from.level == to.level) {
      out[k] = strip[k];
    } else if (from.level < to.level) {  // half of a coarse strip
      out[k] = strip[static_cast<size_t>(at_to % 2 * cells / 2) + k / 2];
    } else if (k < cells / 2) {  // a fine strip is half of the whole
      out[static_cast<size_t>(at_from % 2 * cells / 2) + k] = (strip[2 * k] + strip[2 * k + 1]) / 2;
    }
  }
}

// A quarter of a block, refined; and four blocks, coarsened.
Block refined(const Block& parent, int child) {
  Block block;
  for (int j = 0; j < cells; ++j)
    for (int i = 0; i < cells; ++i)
      block[static_cast<size_t>(j * cells + i)] =
          parent[static_cast<size_t>((child / 2 * cells / 2 + j / 2) * cells + child % 2 * cells / 2 + i / 2)];
  return block;
}

void add_coarsened(const Block& block, int child, Block& parent) {
  for (int j = 0; j < cells; j += 2)
    for (int i = 0; i < cells; i += 2) {
      const auto at = [&](int y, int x) { return block[static_cast<size_t>(y * cells + x)]; };
      parent[static_cast<size_t>((child / 2 * cells + j) / 2 * cells + (child % 2 * cells + i) / 2)] =
          ((at(j, i) + at(j, i + 1)) + (at(j + 1, i) + at(j + 1, i + 1))) / 4;
    }
}

// The blocks of the old tree from which a leaf of the new tree is made.
std::vector<Key> sources(const Tree& old, const Key& leaf) {
  if (old.has(leaf)) return {leaf};
  if (leaf.level > coarsest && old.has(leaf.parent())) return {leaf.parent()};
  return {leaf.child(0), leaf.child(1), leaf.child(2), leaf.child(3)};
}

double steepness(const Block& block) {
  double most = 0;
  for (int j = 0; j < cells; ++j)
    for (int i = 0; i + 1 < cells; ++i) {
      const auto at = [&](int y, int x) { return block[static_cast<size_t>(y * cells + x)]; };
      most = std::max({most, std::fabs(at(j, i + 1) - at(j, i)), std::fabs(at(i + 1, j) - at(i, j))});
    }
  return most;
}

}  // namespace

Field::Field(MPI_Comm comm) : comm_(comm), tree_(Tree::uniform(1)) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  tree_ = Tree::uniform(ranks_);
  const auto fill = [&] {
    blocks_.clear();
    for (const Key& key : tree_.of(rank_))
      for (int j = 0; j < cells; ++j)
        for (int i = 0; i < cells; ++i) blocks_[key][static_cast<size_t>(j * cells + i)] = start_value(key, j, i);
  };
  fill();
  for (int level = coarsest; level < finest; ++level) {
    adapt();
    fill();
  }
}

Field::Field(MPI_Comm comm, int64_t step, Tree tree, std::map<Key, Block> blocks)
    : comm_(comm), step_(step), tree_(std::move(tree)), blocks_(std::move(blocks)) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
}

std::map<Key, std::array<Strip, 4>> Field::exchange() const {
  // Both sides visit all leaves in the same order, so no headers are needed.
  std::vector<std::vector<double>> out(static_cast<size_t>(ranks_));
  std::vector<int> expected(static_cast<size_t>(ranks_));
  const auto each = [&](auto&& work) {
    for (const Key& to : tree_.leaves())
      for (int side = 0; side < 4; ++side)
        for (const Key& from : tree_.beside(to, side)) work(to, side, from);
  };
  each([&](const Key& to, int side, const Key& from) {
    if (tree_.owner(from) == rank_) {
      const Strip strip = border(blocks_.at(from), opposite(side));
      auto& one = out[static_cast<size_t>(tree_.owner(to))];
      one.insert(one.end(), strip.begin(), strip.end());
    }
    if (tree_.owner(to) == rank_) expected[static_cast<size_t>(tree_.owner(from))] += cells;
  });
  const std::vector<double> in = all_to_all(comm_, out, expected);
  std::vector<size_t> next(static_cast<size_t>(ranks_));
  for (size_t r = 1; r < next.size(); ++r) next[r] = next[r - 1] + static_cast<size_t>(expected[r - 1]);
  std::map<Key, std::array<Strip, 4>> strips;
  each([&](const Key& to, int side, const Key& from) {
    if (tree_.owner(to) != rank_) return;
    Strip strip;
    size_t& at = next[static_cast<size_t>(tree_.owner(from))];
    std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(at), cells, strip.begin());
    at += cells;
    lay(strip, from, to, side, strips[to][static_cast<size_t>(side)]);
  });
  return strips;
}

void Field::advance() {
  const auto strips = exchange();
  for (auto& [key, block] : blocks_) {
    const auto& around = strips.at(key);
    const double courant = time_step * (1 << key.level) * cells;
    const Block old = block;
    for (size_t j = 0; j < cells; ++j)
      for (size_t i = 0; i < cells; ++i) {
        const double here = old[j * cells + i];
        const double below = j > 0 ? old[(j - 1) * cells + i] : around[0][i];
        const double left = i > 0 ? old[j * cells + i - 1] : around[2][j];
        block[j * cells + i] = here - courant * (wind_y * (here - below) + wind_x * (here - left));
      }
  }
  if (++step_ % steps_of_a_tree == 0) adapt();
}

void Field::adapt() {
  std::vector<int> mine, all(tree_.leaves().size()), counts(static_cast<size_t>(ranks_)), starts(counts.size());
  for (const Key& key : tree_.of(rank_)) {
    const double steep = steepness(blocks_.at(key));
    mine.push_back(steep > 0.04 ? 1 : steep < 0.005 ? -1 : 0);
  }
  for (const Key& key : tree_.leaves()) ++counts[static_cast<size_t>(tree_.owner(key))];
  for (size_t r = 1; r < counts.size(); ++r) starts[r] = starts[r - 1] + counts[r - 1];
  MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_INT, all.data(), counts.data(), starts.data(), MPI_INT,
                 comm_);
  const Tree after = tree_.adapted(std::move(all));

  std::vector<std::vector<double>> out(static_cast<size_t>(ranks_));
  std::vector<int> expected(static_cast<size_t>(ranks_));
  for (const Key& leaf : after.leaves())
    for (const Key& from : sources(tree_, leaf)) {
      if (tree_.owner(from) == rank_) {
        const Block& block = blocks_.at(from);
        auto& one = out[static_cast<size_t>(after.owner(leaf))];
        one.insert(one.end(), block.begin(), block.end());
      }
      if (after.owner(leaf) == rank_) expected[static_cast<size_t>(tree_.owner(from))] += cells * cells;
    }
  const std::vector<double> in = all_to_all(comm_, out, expected);
  std::vector<size_t> next(static_cast<size_t>(ranks_));
  for (size_t r = 1; r < next.size(); ++r) next[r] = next[r - 1] + static_cast<size_t>(expected[r - 1]);
  std::map<Key, Block> blocks;
  for (const Key& leaf : after.of(rank_)) {
    Block& block = blocks[leaf];
    int child = 0;
    for (const Key& from : sources(tree_, leaf)) {
      Block old;
      size_t& at = next[static_cast<size_t>(tree_.owner(from))];
      std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(at), old.size(), old.begin());
      at += old.size();
      if (from.level == leaf.level)
        block = old;
      else if (from.level < leaf.level)
        block = refined(old, leaf.y % 2 * 2 + leaf.x % 2);
      else
        add_coarsened(old, child++, block);
    }
  }
  tree_ = after;
  blocks_ = std::move(blocks);
}

std::string Field::describe() const {
  // A sum of bits, independent of the order of ranks.
  uint64_t digest = 0;
  double most = 0;
  for (const auto& [key, block] : blocks_)
    for (size_t k = 0; k < block.size(); ++k) {
      digest += (std::bit_cast<uint64_t>(block[k]) ^ key.along()) * (2 * k + 1);
      most = std::max(most, block[k]);
    }
  MPI_Allreduce(MPI_IN_PLACE, &digest, 1, MPI_UINT64_T, MPI_SUM, comm_);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, comm_);
  char text[120];
  std::snprintf(text, sizeof text, "step %lld: %zu blocks, most %.15e, digest %016llx", static_cast<long long>(step_),
                tree_.leaves().size(), most, static_cast<unsigned long long>(digest));
  return text;
}

}  // namespace amr
