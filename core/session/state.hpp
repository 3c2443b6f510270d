// State: the data of an open File.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <penstock/file.hpp>

#include "core/comm/calling.hpp"
#include "core/commit/method.hpp"
#include "core/commit/moving.hpp"
#include "core/commit/opened.hpp"
#include "core/commit/thinned.hpp"
#include "core/methods/dataset_options.hpp"
#include "core/plan/wisdom.hpp"
#include "core/session/step_trace.hpp"
#include "core/status/status_page.hpp"
#include "core/storage/filesystem.hpp"

namespace penstock {

enum class Mode : uint8_t { create, read, change };

// An opened file, what this rank wants of it, and the commit in progress.
struct File::State : Opened {
  Mode mode = Mode::create;
  std::string filesystem;             // of the target
  std::shared_ptr<Striping> stripes;  // of new files, as the plan is; null where nobody may want any
  std::vector<std::string> warnings;  // of every commit's report
  Hints environment_hints;            // of rank 0's environment
  Wisdom wisdom;                      // for this file system, if the plan names no transport
  std::string bound;                  // the transport and parameters that the plan has then
  int commits = 0;

  // Since the last commit:
  std::vector<Pending> puts, gets;
  AllCutBlocks cut;      // what the puts have of blocks of means that they do not have as a whole
  bool took = false;     // whether the last put, lend or supply added to PUTS
  Definitions declared;  // without datasets
  Options options;       // as this rank set them, for all commits
  std::map<std::string, DatasetOptions> dataset_options;  // of all commits, too
  std::set<std::string> left_out;                         // datasets of all commits that were put, but are not written
  std::string lessened;  // the rule, not for named files, by which a dataset has less than the program put
  int64_t capture_bytes = 0;
  int64_t captured_bytes = 0;  // also of the commit in progress

  // What failed:
  Status misuse;           // the first failed put, get or attribute; commit fails with it
  bool forgetful = false;  // failed calls have no later effect; a failed read does not end the use of the file
  Status refused;          // this rank's get_now: the next collective call fails with it and does nothing
  bool harmless = false;   // whether the last collective call, if it failed, had no effect
  Status outcome;          // of a failed commit
  bool closed = false;

  Communicator background_comm;            // for background movements of this file or another; created when needed
  std::optional<Calling> background_call;  // names the file on it
  StepTrace step;
  ShownStep shown;
  std::function<Status(const File&, double)> then;  // set by when_closed
  double commit_seconds = 0;
  std::unique_ptr<Moving> moving;  // a commit between its start and its end; last: its threads use the others

  // Whether there is a file at the path that this File opened or committed.
  bool exists() const { return mode != Mode::create || commits > 0; }
  Status usable() const { return closed ? Status(Code::invalid, "the file is closed") : outcome; }
  Status remember(Status status) {
    if (!status.ok() && misuse.ok() && !forgetful) misuse = status;
    return status;
  }
};

// Local. The plan's hints take precedence over rank 0's environment; methods without MPI-IO use neither.
void set_hints(File::State& state);

// The error of asking for dataset NAME, which is not in the catalogue: Code::unsupported if the file has it, but in a
// form that is not read; else Code::not_found, with the nearest name.
Status no_dataset(const File::State& state, const std::string& name);

}  // namespace penstock
