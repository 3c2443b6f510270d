// State: what an open File holds, and the steps that its sources share.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <penstock/file.hpp>

#include "core/format/format.hpp"
#include "core/placement/placement.hpp"
#include "core/plan/plan.hpp"
#include "core/session/definitions.hpp"
#include "core/session/pending.hpp"
#include "core/storage/storage.hpp"
#include "core/transport/transport.hpp"

namespace penstock {

enum class Mode : uint8_t { create, read, change };

struct File::State {
  Communicator comm;
  std::shared_ptr<TracedStorage> storage;
  Mode mode = Mode::create;
  std::string path;    // what commit publishes, with links resolved
  uint64_t token = 0;  // random, the same on all ranks: of partial names, generations and proofs
  Plan plan;
  const Format* format = nullptr;
  const Transport* transport = nullptr;

  std::optional<Contents> contents;  // of the published file
  bool stale = false;                // published since contents was read: only its catalogue is right
  // Rank 0 keeps the published file open, so that its inode number is not given to another: that is how a replacement by
  // somebody else is noticed.
  StorageFilePtr held;
  FileStat held_stat;
  std::vector<Pending> puts, gets;
  std::map<std::string, std::map<std::string, Attribute>> attributes;
  std::set<std::string> unlimited;
  bool partial = false;
  int64_t capture_bytes = 0;
  int64_t captured_bytes = 0;
  Status misuse;  // the first put, get or attribute that failed: commit fails with it, so that nothing is lost silently
  Status outcome;  // of a failed commit
  bool published = false;
  bool closed = false;
  int commits = 0;
  Report report;

  Status remember(Status status) {
    if (!status.ok() && misuse.ok()) misuse = status;
    return status;
  }
  bool durable() const { return plan.settings.word("durability") == "full"; }
};

// What the ranks' pending blocks come to once they have agreed: the same catalogue on all ranks, and this rank's part
// in it.
struct Resolved {
  Catalogue catalogue;
  std::vector<Claim> claims;
  std::vector<std::byte*> memory;      // of each claim
  std::set<std::string> unlimited;     // as declared by any rank
  std::map<std::string, int> speaker;  // replicated datasets: the rank whose copy moves
};

// Collective. Ragged rows, per-rank rows and growing extents get their final numbers; replicated data is compared.
Result<Resolved> resolve(File::State& state, std::vector<Pending>& pending, const Definitions& agreed,
                         Direction direction);
// The definitions in PENDING as this rank sees them.
Result<Definitions> local_definitions(const File::State& state, const std::vector<Pending>& pending);

// Collective. Rank 0 reads the header, all ranks know it then.
Result<Contents> read_contents(const Communicator& comm, Storage& storage, const std::string& path);
// Local. Elements of dataset INDEX of CONTENTS into MEMORY, by this rank alone, whatever way they are stored.
Status read_here(const Contents& contents, const std::string& path, int index, const Selection& selection,
                 std::byte* memory, const std::shared_ptr<Storage>& storage);

// Local, of use on rank 0. From now on the file at the target's path is the one that the state's contents describe.
Status hold(File::State& state);
// Collective. Code::mismatch where somebody replaced the file since hold().
Status check_held(File::State& state);

// Collective. Moves the pieces of JOB (the session fills in the rest) by the state's transport with SETTINGS; the
// same status everywhere.
Status move_pieces(File::State& state, Job job, const Settings& settings);

// Collective. The two directions of commit.
Status write_pending(File::State& state);
Status read_pending(File::State& state);

// The folder of PATH with a slash at its end, or "".
std::string folder_of(const std::string& path);

}  // namespace penstock
