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
#include "core/methods/methods.hpp"
#include "core/model/claim.hpp"
#include "core/model/layout.hpp"
#include "core/plan/plan.hpp"
#include "core/publication/target.hpp"
#include "core/session/definitions.hpp"
#include "core/session/pending.hpp"
#include "core/session/step_trace.hpp"
#include "core/status/status_page.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

class Method;
struct Writing;
struct Checking;

enum class Mode : uint8_t { create, read, change };

struct File::State {
  State();
  ~State();
  Target target;
  Communicator behind_comm;            // for background movements of this file or another; created when needed
  std::optional<Calling> behind_call;  // names the file on it
  Mode mode = Mode::create;
  std::string source;                  // the file that contents describes, if another: a copy in progress
  std::optional<FileStat> source_was;  // rank 0: that file when contents was read
  StorageFilePtr source_held;          // open, so that its inode number is not reused
  Plan plan;
  std::unique_ptr<const Method> method;  // of PLAN

  std::optional<Contents> contents;  // of the published file
  bool stale = false;                // published after contents was read: only its catalogue is current
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
  bool published = false;
  bool closed = false;
  Hints hints;                         // for MPI-IO
  std::string filesystem;              // of the target
  std::vector<std::string> warnings;   // of every commit's report
  std::unique_ptr<Writing> writing;    // a commit between its start and its end
  std::unique_ptr<Checking> checking;  // of the published file, after its checksums were requested
  Report report;
  StepTrace step;
  ShownStep shown;
  std::function<Status(const File&, double)> then;  // set by when_closed
  double commit_seconds = 0;

  Status remember(Status status) {
    if (!status.ok() && misuse.ok() && !forgetful) misuse = status;
    return status;
  }
  // The file that contents describes.
  const std::string& described() const { return source.empty() ? target.path : source; }
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
// Collective. Reads again what this file's last commit published, unless that was done already.
Status refresh(File::State& state);

// The error of asking for dataset NAME, which is not in the catalogue: Code::unsupported if the file has it, but in a
// form that is not read; else Code::not_found, with the nearest name.
Status no_dataset(const File::State& state, const std::string& name);

// Collective. Compares the blocks that RESOLVED's claims touch with their checksums, according to the plan's verify.
Status verify_claims(File::State& state, const Resolved& resolved);
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
