// Field: a quantity carried around a periodic square, on a tree of blocks that follows it.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tree.hpp"

namespace amr {

using Block = std::array<double, cells * cells>;  // row after row
using Strip = std::array<double, cells>;          // beside one of its sides

class Field {
 public:
  explicit Field(MPI_Comm comm);  // at step 0
  // Restores a checkpoint: the tree, and this rank's blocks.
  Field(MPI_Comm comm, int64_t step, Tree tree, std::map<Key, Block> blocks);

  // Collective. One step; adapts the tree when it is due.
  void advance();
  // Collective. One line, the same on any number of ranks.
  std::string describe() const;

  MPI_Comm comm() const { return comm_; }
  int64_t step() const { return step_; }
  const Tree& tree() const { return tree_; }
  const std::map<Key, Block>& blocks() const { return blocks_; }

 private:
  std::map<Key, std::array<Strip, 4>> exchange() const;
  void adapt();

  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  int64_t step_ = 0;
  Tree tree_;
  std::map<Key, Block> blocks_;  // of this rank
};

}  // namespace amr
