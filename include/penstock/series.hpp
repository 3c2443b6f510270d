// Series: output over time: one file for each step, when a step is due, which steps are kept, and an index of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/file.hpp>
#include <penstock/status.hpp>

namespace penstock {

struct SeriesStep {
  int64_t iteration = 0;
  double time = 0;   // of the simulation
  std::string path;  // of its file
};

// PATTERN is a path with one '*' in its file name: "run/out-*.h5" is run/out-00000100.h5 at iteration 100. docs/series.md tells
// it all, docs/formats/series.md what is on disk. Threads: as File.
class Series {
 public:
  Series(Series&&) noexcept;
  Series& operator=(Series&&) noexcept;
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;
  ~Series();  // local; files of steps that are open stay usable

  // Collective, to write. Nothing is made on disk. A series that is there is continued: a step that is written at iteration N
  // replaces all of N and later that an earlier run left. PLAN: of the files. OPTIONS, "steps=100,keep_last=3", any of
  //   steps=N          due when a multiple of N iterations is reached or passed
  //   times=T          due when a multiple of T of the simulation's time is
  //   at=T:T:...       due at these times
  //   seconds=S        due when the last step was begun so many seconds ago, by rank 0's clock
  //   io_budget=10%    not due where writing would take more than this share of the time since create
  //   keep_last=N      of the steps that are not due to keep_every, only the last N stay
  //   keep_every=K     of all steps, every K-th stays for good
  //   xdmf=true        beside the index a file for ParaView and VisIt, of HDF5 files
  // Without steps, times, at and seconds every step is due; without keep_last and keep_every all stay.
  static Result<Series> create(const Communicator& comm, const std::string& pattern, std::string_view plan = {},
                               std::string_view options = {});
  // Collective, to read. Code::not_found where there is no step.
  static Result<Series> open(const Communicator& comm, const std::string& pattern);

  // Collective, with the same arguments on all ranks; whether a step is to be written now, the same on all ranks. Only seconds
  // and io_budget communicate: one small broadcast. Asked twice for the same, it answers the same.
  Result<bool> due(int64_t iteration, double time);
  // Collective. A new file, with attributes "iteration" and "time". Its close() publishes it; then the index has it, and
  // what is no longer kept is removed. It may outlive the series.
  Result<File> step(int64_t iteration, double time);

  // Local. Ascending in iterations: what was there at create or open, and what was written since.
  std::vector<SeriesStep> steps() const;
  // Local. How many there are, and one of them, without making a list of all.
  int64_t count() const;
  Result<SeriesStep> at(int64_t index) const;
  // Collective, to read.
  Result<File> open_step(int64_t index, std::string_view plan = {}) const;
  // Local. Files that match and are no steps, or cannot be read; an index that had to be made anew.
  const std::vector<std::string>& warnings() const;

  class State;  // of core/series

 private:
  explicit Series(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace penstock
