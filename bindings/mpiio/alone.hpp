// Alone: raw data of an HDF5 file that one rank writes by itself and keeps back, until the ranks move it together.
#pragma once

#include <map>

#include "bindings/mpiio/arena.hpp"
#include "bindings/mpiio/runs.hpp"

namespace penstock::mpiio {

// Bytes of the file, each once: what was written last.
class Alone {
 public:
  bool empty() const { return runs_.empty(); }
  int64_t bytes() const;  // of the data and of what describes it
  double since() const { return since_; }
  // Copies the data; false if there is no memory for it.
  bool keep(std::span<const Run> runs);
  // Something else is written there.
  void drop(std::span<const Run> runs);
  // Puts it over what RUNS have from the file.
  void overlay(std::span<const Run> runs) const;
  std::vector<Run> runs() const;  // sorted
  int64_t end() const { return runs_.empty() ? 0 : end_of(std::prev(runs_.end())->second); }

 private:
  static int64_t end_of(const Run& run) { return run.offset + run.length; }
  void cut(int64_t begin, int64_t end);

  std::map<int64_t, Run> runs_;  // by their offsets
  Arena arena_;
  int64_t data_bytes_ = 0;
  double since_ = 0;
};

}  // namespace penstock::mpiio
