// State: the data of an open File, and the steps that its sources share.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <penstock/file.hpp>

#include "core/access/recognise.hpp"
#include "core/base/hints.hpp"
#include "core/comm/calling.hpp"
#include "core/conventions/conventions.hpp"
#include "core/integrity/published.hpp"
#include "core/methods/methods.hpp"
#include "core/model/claim.hpp"
#include "core/model/layout.hpp"
#include "core/plan/plan.hpp"
#include "core/session/definitions.hpp"
#include "core/session/pending.hpp"
#include "core/session/step_trace.hpp"
#include "core/status/status_page.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

class Method;
struct Writing;

// A file that is copied: kept open, so that its replacement or change is detected.
struct CopySource {
  std::string path;
  std::optional<FileStat> was;  // rank 0
  StorageFilePtr held;
};

enum class Mode : uint8_t { create, read, change };

struct File::State {
  State();
  ~State();
  Target target;
  Communicator behind_comm;            // for background movements of this file or another; created when needed
  std::optional<Calling> behind_call;  // names the file on it
  Mode mode = Mode::create;
  Plan plan;
  std::unique_ptr<const Method> method;  // of PLAN

  std::optional<Published> file;     // that is read, and whose contents the next commit keeps
  std::optional<CopySource> source;  // of a copy in progress
  std::vector<Pending> puts, gets;
  std::map<std::string, std::map<std::string, Attribute>> attributes;
  std::set<std::string> unlimited, named, groups, removed;  // same as in Definitions
  bool partial = false;
  bool xdmf = false;  // write an XDMF file
  Convention convention = Convention::none;
  bool supplied = false;  // in the commit in progress, by any rank
  int commits = 0;
  int64_t capture_bytes = 0;
  int64_t captured_bytes = 0;
  Status misuse;           // the first failed put, get or attribute; commit fails with it
  bool forgetful = false;  // failed calls have no later effect; a failed read does not end the use of the file
  Status refused;          // this rank's get_now: the next collective call fails with it and does nothing
  bool harmless = false;   // whether the last collective call, if it failed, had no effect
  Status outcome;          // of a failed commit
  bool exists = false;     // at the path: opened or committed by this File
  bool closed = false;
  Hints hints;                        // for MPI-IO
  std::string filesystem;             // of the target
  std::vector<std::string> warnings;  // of every commit's report
  std::unique_ptr<Writing> writing;   // a commit between its start and its end
  Report report;
  StepTrace step;
  ShownStep shown;
  std::function<Status(const File&, double)> then;  // set by when_closed
  double commit_seconds = 0;

  Status remember(Status status) {
    if (!status.ok() && misuse.ok() && !forgetful) misuse = status;
    return status;
  }
};

// The result of the ranks' agreement on pending blocks: the same catalogue on all ranks, and this rank's part of it.
struct Resolved {
  Catalogue catalogue;
  std::vector<Claim> claims;
  std::vector<Sharing> sharing;                  // of each dataset
  std::set<std::string> unlimited;               // as declared by any rank
  std::set<std::string> named, groups, removed;  // as in Definitions
  std::map<std::string, int> speaker;            // replicated datasets: the rank whose copy is used
};

// Collective. Determines ragged rows, per-rank rows and growing extents; compares replicated data.
Result<Resolved> resolve(File::State& state, std::vector<Pending>& pending, Definitions agreed, Direction direction);
// The definitions in PENDING as this rank sees them, without attributes.
Result<Definitions> local_definitions(const File::State& state, const std::vector<Pending>& pending);

// Collective. Code::mismatch if the source of a copy was changed or replaced in the meantime.
Status check_source(File::State& state);
// The error of asking for dataset NAME, which is not in the catalogue: Code::unsupported if the file has it, but in a
// form that is not read; else Code::not_found, with the nearest name.
Status no_dataset(const File::State& state, const std::string& name);

// Collective. Fills the buffers of get.
Status read_pending(File::State& state);

// The three steps of writing pending data. Collective: from the definitions to the start of the data movement. The
// movement continues in the background if BEHIND and the transport allow it.
Status start_writing(File::State& state, bool behind);
// Local. True when finish_writing will be short.
Result<bool> test_writing(File::State& state);
// Local, the same on all ranks. Whether a commit is in progress that needs neither this program's memory nor its time.
bool handed_over(const File::State& state);
// Collective. Ends the movement and publishes. Does nothing if no commit is in progress.
Status finish_writing(File::State& state);

}  // namespace penstock
