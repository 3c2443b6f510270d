// Newest: bytes of a file in memory, each once: what was put last.
#pragma once

#include <map>

#include "bindings/mpiio/runs.hpp"

namespace penstock::mpiio {

class Newest {
 public:
  bool empty() const { return runs_.empty(); }
  int64_t map_bytes() const { return std::ssize(runs_) * (static_cast<int64_t>(sizeof(Run)) + 48); }  // without data
  int64_t end() const { return runs_.empty() ? 0 : end_of(std::prev(runs_.end())->second); }
  // Joins the run before, if that lies before it in memory, too.
  void put(const Run& run);
  void cut(int64_t begin, int64_t end);
  // Puts it over what RUNS have from the file.
  void overlay(std::span<const Run> runs) const;
  std::vector<Run> runs() const;  // sorted

 private:
  static int64_t end_of(const Run& run) { return run.offset + run.length; }

  std::map<int64_t, Run> runs_;  // by their offsets
};

}  // namespace penstock::mpiio
