// Series: output over time: one file for each step, rules for when a step is due and which steps are kept, and an
// index.
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
  double time = 0;   // simulation time
  std::string path;  // of the step's file
};

// PATTERN is a path with one '*' in its file name: "run/out-*.h5" gives run/out-00000100.h5 at iteration 100. See
// docs/series.md; docs/formats/series.md describes the files. Threads: as for File.
class Series {
 public:
  Series(Series&&) noexcept;
  Series& operator=(Series&&) noexcept;
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;
  ~Series();  // local; open files of steps stay usable

  // Collective. Creates or continues a series for writing; nothing is created on disk yet. Writing a step at iteration
  // N to an existing series replaces all steps of an earlier run from N on. PLAN applies to the files. OPTIONS, such as
  // "steps=100,keep_last=3", any of
  //   steps=N          due when a multiple of N iterations is reached or passed
  //   times=T          due when a multiple of simulation time T is reached or passed
  //   at=T:T:...       due at these simulation times
  //   seconds=S        due when the last step began S seconds ago, by rank 0's clock
  //   io_budget=10%    not due if writing would take more than this share of the time since create
  //   keep_last=N      keep only the last N of the steps that keep_every does not keep
  //   keep_every=K     additionally keep every Kth of all steps permanently
  //   xdmf=true        write a file for ParaView and VisIt beside the index, for HDF5 files
  // Without steps, times, at and seconds every step is due. Without keep_last and keep_every all steps are kept.
  static Result<Series> create(const Communicator& comm, const std::string& pattern, std::string_view plan = {},
                               std::string_view options = {});
  // Collective. Opens a series for reading. Code::not_found if there is no step.
  static Result<Series> open(const Communicator& comm, const std::string& pattern);

  // Collective. Tells whether a step is due now. All ranks pass the same arguments and get the same result; the same
  // question gets the same answer. Only seconds and io_budget communicate: one small broadcast.
  Result<bool> due(int64_t iteration, double time);
  // Collective. Creates the file of a step, with attributes "iteration" and "time". Its close() publishes the step,
  // adds it to the index and removes the steps that are no longer kept. The file may outlive the series.
  Result<File> step(int64_t iteration, double time);

  // Local. The steps found at create or open and those written since, in ascending order of iterations.
  std::vector<SeriesStep> steps() const;
  // Local. The number of steps, and one of them, without a list of all.
  int64_t count() const;
  Result<SeriesStep> at(int64_t index) const;
  // Collective. Opens a step for reading.
  Result<File> open_step(int64_t index, std::string_view plan = {}) const;
  // Local. Files that match the pattern but are not steps or cannot be read; a rebuilt index.
  const std::vector<std::string>& warnings() const;

  class State;  // of core/series

 private:
  explicit Series(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace penstock
