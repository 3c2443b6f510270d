// File: one parallel file: put, get and attributes are local, commit and close are collective.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/attribute.hpp>
#include <penstock/communicator.hpp>
#include <penstock/decomposition.hpp>
#include <penstock/phase.hpp>
#include <penstock/status.hpp>
#include <penstock/supplier.hpp>
#include <penstock/type.hpp>

namespace penstock {

struct DatasetInfo {
  std::string name;
  ElementType type;
  Dims shape;
  bool unlimited = false;  // the first extent may grow when the file is reopened
};

// What one commit did, on this rank; the times of the slowest rank are for the caller to reduce.
struct Report {
  std::string plan;            // as it ran, with every parameter
  PhaseTimes phases;           // seconds on this rank
  int64_t bytes = 0;           // user bytes of this rank
  int64_t file_calls = 0;      // system calls on file data by this rank: writes, or reads
  int64_t file_bytes = 0;      // bytes of those calls
  int64_t metadata_calls = 0;  // open, create, allocate, sync, close, rename, ...
  int64_t messages = 0;        // point-to-point messages sent by this rank
  int64_t message_bytes = 0;
  int64_t writers = 0;        // 1 where this rank opened files for data
  int64_t memory_peak = 0;    // bytes that two_phase and independent held beyond the program's data and captured puts
  double behind_seconds = 0;  // of a commit in the background: how long data moved between commit_start and commit_wait
  std::string filesystem;     // of the target: "ext4, blocks of 4096 bytes (statfs, mountinfo)"
  std::map<std::string, std::string> hints;  // as the MPI-IO library has them in force
  std::vector<std::string> warnings;  // what the plan asked for and this process, library or file system cannot give
  std::string statistics;             // of the transport, as a JSON object, on the ranks that have any
};

// Elements of a dataset that are not what was committed, as far as its blocks of checksums tell: from linear offset FIRST
// on, END not among them.
struct Damage {
  std::string dataset;
  int64_t first = 0, end = 0;
  std::string what;  // for a person: both as coordinates, and why
};

// What verify() found; the same on all ranks.
struct Verification {
  int64_t committed_at = 0;  // nanoseconds since 1970
  int64_t bytes = 0;         // of data that were compared
  std::vector<Damage> damages;
  std::vector<std::string> unchecked;  // datasets without checksums
  // Of a set that was opened with lost_parts=zeros: which parts are lost, and exactly what was in them.
  std::vector<std::string> lost;
  // Of a set: its files whose headers are not what was committed; with parity those of which anything is not, or that are missing.
  std::vector<std::string> files;
  bool rebuildable = false;      // parity can make again the one file of them
  bool metadata_differ = false;  // what lies before the data (HDF5's or netCDF's header), or a set's index
  // Somebody has written the file since its commit, or copied it without its time: what differs may be meant.
  bool modified = false;

  // Of what differs, what nobody can have meant: each file of a set is judged by its own time, and data against the whole files.
  std::vector<std::string> not_meant;

  // Code::damaged, naming the first that differs in the file at PATH and counting the others, or ok.
  Status verdict(const std::string& path) const;
};

// What repair() did; the same on all ranks.
struct Repair {
  std::string rebuilt;  // the file of the set that was made again; "" where all were as they were committed
  std::string why;      // what was wrong with it
  std::string
      kept;  // where what was in its place is now; "" unless it was changed after the commit, perhaps on purpose
  int64_t bytes = 0;  // of it
  int64_t files = 0;  // of the set, that were compared with their checksums, the parity file among them
};

// What seal() found and did; the same on all ranks.
struct Sealed {
  bool renewed = false;                // the checksums are new; else all agreed already
  std::vector<std::string> found;      // what was not as it was committed
  std::vector<std::string> unchecked;  // datasets that have no checksums now: the file's record has no room for them
};

// Threads: a File may be used by one thread at a time; under MPI_THREAD_SINGLE everything still works. Several threads with
// files of their own, by format hdf5, transport mpiio or engines, call their collective functions in the same order on all
// ranks, since one thread at a time is inside those libraries.
// Failure: after a failed commit the target is what it was before; the File can only be closed (but see set_forgetful).
class File {
 public:
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();  // abandons what was not committed; local, so close() is the ordinary way

  // Collective. Nothing is published under PATH until commit; a file of that name stays until then.
  // PLAN is a plan as text ("hdf5/two_phase:writers=2"), "" for the default of PATH's extension.
  static Result<File> create(const Communicator& comm, std::string path, std::string_view plan = {});
  // Collective, to read. The format is recognised from the file; PLAN may name the transport for reading.
  static Result<File> open(const Communicator& comm, std::string path, std::string_view plan = {});
  // Collective, to read, for those who look after files: by the default plan, whatever PENSTOCK_PLAN says. With WHAT_IS_LEFT
  // lost parts of a set are no error, as with lost_parts=zeros.
  static Result<File> open_to_check(const Communicator& comm, const std::string& path, bool what_is_left = false);
  // Collective, to read: the newest file of those that match PATTERN (of glob(7): "run/chk-*.h5") that is whole and agrees with
  // its checksums; newest is what was committed last. Those passed over are named with the reason in report().warnings, and
  // in the error where there is none: Code::not_found. It reads all data of the file that it returns.
  static Result<File> open_latest(const Communicator& comm, std::string pattern, std::string_view plan = {});
  // Collective, to read and to change: commit publishes a new file with what was there, what was put over it,
  // and what was added. An unlimited dataset grows to hold what is put beyond its end.
  static Result<File> reopen(const Communicator& comm, std::string path, std::string_view plan = {});

  // Collective. A new file TO with all that is in FROM, which may be a set or another tool's, moved in bounded pieces;
  // for a set that becomes one file, one file that becomes a set, another format, or other chunks. ONLY, where given, names the datasets
  // and groups that are copied, with the attributes of what they lie in. All or nothing, like a commit. Where blocks of ranks make up the
  // files (placement=per_rank), or an engine writes them, each rank has a slab of every dataset.
  static Status copy(const Communicator& comm, std::string from, std::string to, std::string_view plan = {},
                     std::span<const std::string> only = {});

  // Collective. A new file at PATH that begins with all that is in the file or set TEMPLATE_PATH, which is not touched: put, set and
  // get as in a reopened file; one commit publishes all of it. PLAN is that of the new file. Not where blocks of ranks make up
  // files (placement=per_rank or rank_order), nor with engines.
  static Result<File> clone(const Communicator& comm, std::string template_path, std::string path,
                            std::string_view plan = {});

  // Collective. Finds which files of the set at PATH are missing or not what was committed and, where it is one and the set has
  // parity (plan parameter parity=1), makes it again, bit for bit: in a hidden file that takes its name once it agrees with its checksum.
  // Files that are as they should be are not touched; one that was changed after the commit is kept beside the one made anew.
  // Code::damaged, naming all that is missing, where it cannot be done.
  // Without parity it only looks, as verify() does.
  static Result<Repair> repair(const Communicator& comm, const std::string& path);

  // Collective. Makes new checksums for the file or set at PATH, and new parity where it has that, from what is in it now, since another
  // tool changed it on purpose. All or nothing: a clone of a single file takes its place, or a new index that of the old one, of which
  // only what penstock reads is kept. Code::damaged where what differs was changed by nobody since the commit (by the times of the
  // files) or the record itself is damaged, unless FORCE.
  static Result<Sealed> seal(const Communicator& comm, const std::string& path, bool force = false);

  // A put, get or attribute that fails makes the next commit fail with its error on all ranks, so that nothing is
  // lost silently.

  // Local. DATA is copied before put returns, against the limit set with capture_bytes (default: a quarter of
  // the node's memory shared by its ranks). Any number of blocks of a dataset, any order, any subset of ranks.
  Status put(std::string_view name, ElementType type, const Decomposition& part, const void* data,
             const Memory& memory = {});
  // Local. As put, but DATA must stay alive and unchanged until commit returns.
  Status lend(std::string_view name, ElementType type, const Decomposition& part, const void* data,
              const Memory& memory = {});
  // Local. As lend, of elements that SUPPLIER makes while commit or commit_start runs, on this rank and in its thread, in pieces of no
  // more than a quarter of memory_bytes and 16 MiB: so a file may be larger than memory. Pieces come in the order of the file, each once;
  // with engines once for the checksums and once more. SUPPLIER must not call this library's collective functions. Not for replicated data,
  // nor with placement=rank_order.
  Status supply(std::string_view name, ElementType type, const Decomposition& part, Supplier supplier);
  // Local. DATA is filled when commit returns. TYPE and shape must be those of the dataset.
  Status get(std::string_view name, ElementType type, const Decomposition& part, void* data, const Memory& memory = {});

  // Local. As get, but TYPE may be any that holds all values of the dataset's: f64 of f32, i64 of u32, f64 of i32,
  // complex128 of f64; they are converted when commit has read them.
  Status get_widened(std::string_view name, ElementType type, const Decomposition& part, void* data,
                     const Memory& memory = {});

  // Local. Makes the next commit fail with STATUS, on all ranks: for bindings, whose own checks refuse a call
  // before it gets here.
  void remember_failure(const Status& status);
  // Local. For bindings whose language has exceptions, which nobody overlooks: with FORGETFUL a put, get or attribute
  // that is refused leaves no trace, and after a commit that only read, and failed, the file can be used as before.
  void set_forgetful(bool forgetful);
  // Collective. get() and commit() in one; but where a rank's get is refused, all ranks fail with its error, nothing
  // else was done, what was put or asked for before is still pending, and the file can be used as before.
  Status get_now(std::string_view name, ElementType type, const Decomposition& part, void* data,
                 const Memory& memory = {});
  // Collective. The place in others' get_now (or commit, which fails likewise) of a rank whose binding refused the call
  // because of WHY.
  Status refuse_get(const Status& why);
  // Local. What the elements of the last put or lend mean to a binding whose types the library has not: "bool" put as
  // i8. Code::mismatch from commit where those put to one dataset mean different things.
  void set_meant(std::string word);
  // Local. Whether the file is open and no commit of it failed.
  bool is_usable() const;
  // Local. Whether this rank has put, lent or asked for anything that no commit has dealt with.
  bool is_pending() const;

  // Local. OBJECT is "" or "/" for the file, else a group's or dataset's name. The last value on a rank wins; ranks
  // may differ in which attributes they set, not in their values.
  Status set_attribute(std::string_view object, Attribute attribute);
  // Local. A group NAME, though nothing be put into it; one that is there stays.
  Status make_group(std::string_view name);
  // Local; one rank that says so is enough. Dataset or group NAME goes, with all that is in it: what was put and not
  // committed, and what a reopened file has. It may be put anew, with another type and shape. Code::not_found where
  // there is none.
  Status remove(std::string_view name);
  // Local. What the dimensions of DATASET are called, slowest first: what xarray and netCDF show, and HDF5's dimension
  // scales. "y" stands for one length in the whole file, "level_1/y" is group level_1's own. A list with the name of a
  // dimension has its coordinates. Kept as the attribute "dimensions". Code::invalid from commit where they do not fit.
  Status set_dimensions(std::string_view dataset, std::span<const std::string> names);
  // Local. What set_dimensions says of the names, which it does not set.
  static Status check_dimensions(std::string_view dataset, std::span<const std::string> names);
  // Local. Declares that the first extent of dataset NAME may grow later.
  Status set_unlimited(std::string_view name);
  // Local; one rank that says so is enough. Elements that nobody puts read as zero instead of being an error.
  void set_partial(bool partial);
  // Local; one rank that says so is enough. Commits of hdf5 files write a file for ParaView and VisIt beside: "heat.xmf" of "heat.h5", of the
  // meshes that attributes describe (docs/meshes.md). Code::invalid from commit where a description does not fit.
  void set_xdmf(bool xdmf);
  // Local; one rank that says so is enough. Commits write what CONVENTION wants besides: "CF" of netCDF files (names of dimensions,
  // coordinates of meshes), "openPMD" of HDF5 files whose datasets are named as it has them, "" none (docs/conventions.md). Code::invalid from
  // commit where the file has nothing that it could describe, Code::unsupported in another format.
  Status set_conventions(std::string_view convention);
  // Local. The limit of captured puts of this rank, in bytes.
  void set_capture_bytes(int64_t bytes);

  // Local, on what was there at open. In file order (by name).
  std::vector<DatasetInfo> datasets() const;
  Result<DatasetInfo> dataset(std::string_view name) const;
  bool has(std::string_view object) const;  // a dataset or group
  // Local. How many commits of this File have published something: as long as it is the same, so is datasets().
  int64_t publications() const;
  Result<Attribute> attribute(std::string_view object, std::string_view name) const;
  std::vector<Attribute> attributes(std::string_view object) const;
  // Local. The names of the dimensions of DATASET; empty where it has none.
  std::vector<std::string> dimensions(std::string_view dataset) const;
  const std::string& path() const;
  std::string plan() const;

  // Collective. Writes what was put or lent and publishes one complete file; or fills what was asked with get. With
  // transport servers it returns when the data is handed over: the next commit, commit_wait or close publishes it, and
  // returns what went wrong.
  Status commit();

  // The same in three steps, so that the program computes meanwhile. Collective. What was put (copied) or lent (alive
  // and unchanged until commit_wait) is on its way when this returns; what is put from now on belongs to the next
  // commit. What was asked for by get is filled already. The data moves in a thread of the library's where the
  // rank has nothing to send or receive (independent; two_phase on one node, whose ranks share memory), or where MPI was
  // started with MPI_THREAD_MULTIPLE; two_phase with messages and mpiio with synchronism=nonblocking move it in calls of
  // commit_test, as far as that goes without waiting; engines and the rest of mpiio inside commit_wait. While an engine or mpiio is at work in a thread, this library's own calls of
  // HDF5, netCDF, PnetCDF and MPI-IO wait for it, and the program should make none. A commit under way is ended first.
  Status commit_start();
  // Local: never waits for another rank. False while data moves behind the program or more calls will move it, else it is
  // time for commit_wait.
  Result<bool> commit_test();
  // Collective. Waits, publishes; errors of the movement arrive here. Nothing under way: ok.
  Status commit_wait();

  // Collective. Ends a commit under way, commits what is pending, then releases everything. Any status of it is the same on all ranks.
  Status close();

  // Collective. As close(), but what is published is the newest of RETAIN restart files: it takes index 0 of PATTERN
  // ("run/restart#.h5" is restart0.h5, restart1.h5, ...; "##" is 00, 01, ...), those that are there move one index up, and what would
  // get index RETAIN goes, with its parts. PATTERN names files of this file's folder. What was not committed before goes straight to
  // index 0; what was is renamed from this file's path, which is free then. Index 0 is there at every moment, old or new, where the
  // file system has links (docs/decisions/0025-restart-files.md).
  Status close_restart(std::string pattern, int64_t retain);

  // Collective. Reads all that is published and compares it with the checksums that were committed with it. PROGRESS, where
  // given, is called on rank 0 with the share that is done, from 0 to 1. Code::not_found where the file has no checksums
  // (a set with parity has those of whole files), Code::damaged where they cannot be read.
  Result<Verification> verify(const std::function<void(double)>& progress = {});

  // What the last commit did on this rank.
  const Report& report() const;

  // Local. The ranks that share the file.
  const Communicator& communicator() const;
  // Local, on all ranks or none: for what keeps account of files, as Series does. THEN is called inside close(), collectively, once
  // all is published, with the seconds that this rank spent in commits; its status is that of close().
  void when_closed(std::function<Status(const File& file, double seconds)> then);

  struct State;  // of core/session

 private:
  explicit File(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace penstock
