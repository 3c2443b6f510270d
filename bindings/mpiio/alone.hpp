// Alone: raw data of an HDF5 file that one rank writes by itself and keeps back, until the ranks move it together.
#pragma once

#include "bindings/mpiio/arena.hpp"
#include "bindings/mpiio/newest.hpp"
#include "bindings/mpiio/runs.hpp"

namespace penstock::mpiio {

class Alone {
 public:
  bool empty() const { return newest_.empty(); }
  int64_t bytes() const;  // of the data and of what describes it
  double since() const { return since_; }
  // Copies the data; false if there is no memory for it.
  bool keep(std::span<const Run> runs);
  // Something else is written there.
  void drop(std::span<const Run> runs);
  // Puts it over what RUNS have from the file.
  void overlay(std::span<const Run> runs) const { newest_.overlay(runs); }
  std::vector<Run> runs() const { return newest_.runs(); }  // sorted
  int64_t end() const { return newest_.end(); }

 private:
  Newest newest_;
  Arena arena_;
  int64_t data_bytes_ = 0;
  double since_ = 0;
};

}  // namespace penstock::mpiio
