// File: an open file of the program whose accesses go our way, and what of it is kept back.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

#include "bindings/mpiio/alone.hpp"
#include "bindings/mpiio/arena.hpp"
#include "bindings/mpiio/background.hpp"
#include "bindings/mpiio/gather.hpp"
#include "bindings/mpiio/newest.hpp"
#include "bindings/mpiio/pointer.hpp"
#include "bindings/mpiio/runs.hpp"
#include "bindings/mpiio/statistics.hpp"
#include "core/base/file_descriptor.hpp"
#include "core/plan/plan.hpp"
#include "core/storage/storage.hpp"

namespace penstock::mpiio {

// Collective writes that were not moved yet. Their number is the same on all ranks.
struct Kept {
  struct Call {
    Hull hull;  // of this rank's runs
    std::vector<Run> runs;
  };
  // Written at once while calls were kept: those before number AFTER must not write there, on any rank.
  struct Immediate {
    Hull range;
    int64_t after = 0;
  };
  std::vector<Call> calls;
  std::vector<Immediate> immediate;
  size_t taken_out = 0;  // of these, from what this rank keeps
  // The newest of what this rank keeps, for its own reads: of the first CALLS of the calls, without the bytes of the
  // first IMMEDIATE of the ranges.
  struct {
    Newest bytes;
    size_t calls = 0, immediate = 0;
  } own;
  Arena arena;
  int64_t bytes = 0;  // of the data and of what describes it
  double since = 0;   // the first one
  Status failed;      // of this rank, in a call whose data it wrote at once
};

// When the ranks next ask each other whether memory is full; the same on all ranks.
struct Pace {
  int64_t calls = 0;     // collective writes so far
  int64_t next = 1;      // the number of the call that asks
  int64_t distance = 1;  // to the one after it
  int64_t largest = 0;   // bytes of this rank in a call since the last one that asked
};

// Collective calls that the ranks expect to be like the last ones, each moved by itself; the same on all ranks but for
// MISSED.
struct Foresight {
  int left = 0;         // coming calls in which they do not ask each other
  int streak = 0;       // answers in a row that each moves its own; negative: not yet again
  int penalty = 8;      // answers to wait for after a call that was another
  bool missed = false;  // by this rank's data
  bool small = false;   // one rank may write what all have in the next call
  int scattered = 0;    // coming calls in which it had better not
};

class Advice;

struct File {
  MPI_File handle = MPI_FILE_NULL;
  int64_t token = 0;      // the same on all ranks
  int64_t opened_on = 0;  // the communicator's number, if its ranks ask at barriers
  std::string path;
  int amode = 0;
  Communicator comm;
  MPI_Comm native = MPI_COMM_NULL;  // of COMM
  std::shared_ptr<Statistics> statistics;
  FileDescriptor held;  // the file itself, whatever its name is by now
  uint64_t device = 0, inode = 0;
  StorageFilePtr storage_file;

  View view;
  int64_t position = 0;  // of the individual file pointer, in etypes
  std::string datarep = "native";
  int views = 0;                         // set so far
  bool hides_views = false;              // MPI need not know the views; the same on all ranks
  std::string hidden;                    // file for the shared pointers of this opening's views
  std::optional<SharedPointer> pointer;  // of this view, if MPI does not know the view
  bool atomic = false;

  bool is_sole = false;  // all ranks of the program have opened it, once
  // Gaps of less than a block between runs are read and written again, whoever else may write there meanwhile.
  bool fills_gaps = false;
  // Nothing is kept back: so PENSTOCK_RUN_DEFER says, or the program is HDF5, which reads by independent calls, without
  // a sync, what other ranks have written. It goes back to a view of bytes after each collective write.
  bool at_once = false;
  bool is_asking = false;  // it is HDF5, whose ranks ask each other before each collective call
  bool is_known = false;   // whether it is HDF5
  bool gathers = false;    // it is, and no two threads call at once: one rank may write for all
  // HDF5's file driver says which independent writes are raw data; the same on all ranks. They are kept, and collective
  // calls and barriers ask whether any rank does so.
  bool keeps_alone = false;
  bool keeps_more = true;  // until HDF5 frees space; the same on all ranks
  Alone alone;
  Plan plan;                               // with a transport
  bool automatic = true;                   // nobody named it
  std::shared_ptr<const Advice> advice;    // for such a plan; null: none
  std::shared_ptr<Background> background;  // plan servers
  Kept kept;
  Pace pace;
  Foresight foresight[2];  // by direction
  Gathering gathering;
  Status failed;             // of a movement in a call that could not say so
  int64_t split_bytes = -1;  // moved by the split collective call in progress; -1: none, or MPI's
  std::thread::id caller;    // of the last collective call
  std::atomic<bool> in_collective = false, has_kept = false;
  bool threads = false;   // any of its ranks may call MPI by several at once
  bool in_world = false;  // its ranks are all in MPI_COMM_WORLD
  std::recursive_mutex busy;

  bool writable() const { return (amode & MPI_MODE_RDONLY) == 0; }
  bool readable() const { return (amode & MPI_MODE_WRONLY) == 0; }
  // Why its accesses go to MPI; null if they go our way.
  const char* why_passed() const {
    if (atomic) return "atomic mode";
    if (datarep != "native" && datarep != "internal") return "another data representation";
    return nullptr;
  }
};

// A collective call of this thread, which has locked FILE.
class Together {
 public:
  explicit Together(File& file) : file_(file), before_(file.in_collective.exchange(true)) {
    file.caller = std::this_thread::get_id();
  }
  ~Together() { file_.in_collective = before_; }
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

 private:
  File& file_;
  bool before_;
};

// The file behind HANDLE; null if its calls go to MPI.
std::shared_ptr<File> find(MPI_File handle);
void remember(const std::shared_ptr<File>& file);
void forget(MPI_File handle);
// In the order in which they were opened.
std::vector<std::shared_ptr<File>> open_files();

// Local. Whether several threads may call MPI at once.
bool threads_call();
// Collective. The ranks of COMM will ask each other at its barriers whether what is kept can move. Its number here.
int64_t ask_at_barriers(MPI_Comm comm);
// Local. Whether all ranks of FILE are in COMM.
bool has_ranks_of(MPI_Comm comm, const File& file);
// Local. Whether TYPE is committed. MPI has no function that tells, but its sends refuse other types, even to nobody.
bool is_committed(const File& file, MPI_Datatype type);
// Local. What is open by other handles of the same file, on this rank.
std::vector<std::shared_ptr<File>> others(const File& file);
// Local. A path that leads to the open file: its own, or another if it was renamed or removed.
std::string path_now(File& file);
// Local. The open file; opened at its first use.
Result<StorageFile*> storage_file(File& file);
// Local. The file's size now.
Result<int64_t> size_of(File& file);

// --- local; they may wait for the others in collective calls before ---
// At once. It outlasts what is kept by now, on any rank and by any handle.
Status write_alone(File& file, std::span<const Run> runs);
// With what this rank keeps. The number of bytes read: fewer than those of RUNS if the file ends before.
Result<int64_t> read_alone(File& file, const std::vector<Run>& runs);
// Puts what this rank keeps by other handles of the file over what RUNS have from it.
void overlay_others(File& file, std::span<const Run> runs);
// At once: what this rank keeps of collective calls.
Status write_own(File& file);
// As write_alone, or kept back if this is raw data that HDF5 leaves to one rank.
Status write_or_keep(File& file, std::vector<Run> runs);
// At once: raw data that this rank keeps.
Status write_kept(File& file);
// Whether HDF5's file driver says that what this thread writes is raw data, or will say it of a file that is opened.
bool is_raw();
// The end of this rank's share of what is kept back, and of what waits in the background.
int64_t kept_end(const File& file);

// --- collective ---
// WHY names the call. The same status on all ranks.
Status move_kept(File& file, std::string_view why);
Status write_together(File& file, std::vector<Run> runs);
Result<int64_t> read_together(File& file, std::vector<Run> runs);
// What was written is durable afterwards. Also tells what failed in calls that could not say so.
Status sync(File& file);
// MPI gets the view of FILE, and where its shared file pointer is.
Status give_view(File& file);

}  // namespace penstock::mpiio
