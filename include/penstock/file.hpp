// File: one parallel file. Put, get and attributes are local; commit and close are collective.
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
#include <penstock/integrity.hpp>
#include <penstock/report.hpp>
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

// Threads: one thread at a time may use a File; everything also works under MPI_THREAD_SINGLE. Several threads may each
// have a File. With format hdf5, transport mpiio or engines they must call collective functions in the same order on
// all ranks, since only one thread at a time enters those libraries.
// Failure: after a failed commit the target is unchanged, and the File can only be closed (exception: set_forgetful).
class File {
 public:
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();  // drops uncommitted data; local, so normally call close()

  // Collective. Creates a file. Nothing changes at PATH until commit; an existing file stays until then. PLAN is a plan
  // as text ("hdf5/two_phase:writers=2"); "" selects the default for the extension of PATH.
  static Result<File> create(const Communicator& comm, std::string path, std::string_view plan = {});
  // Collective. Opens a file for reading and detects its format. PLAN may name the transport for reading.
  static Result<File> open(const Communicator& comm, std::string path, std::string_view plan = {});
  // Collective. Opens a file for reading, for maintenance tools: with the default plan, whatever PENSTOCK_PLAN says.
  // With WHAT_IS_LEFT lost parts of a set are no error, as with lost_parts=zeros.
  static Result<File> open_to_check(const Communicator& comm, const std::string& path, bool what_is_left = false);
  // Collective. Opens for reading the newest valid file that matches PATTERN (as in glob(7): "run/chk-*.h5"). Newest
  // means committed last. Valid means complete and equal to its checksums; all data of the returned file is read to
  // compare them. report().warnings lists the skipped files with the reasons. Code::not_found if no file is valid; the
  // error then lists them.
  static Result<File> open_latest(const Communicator& comm, std::string pattern, std::string_view plan = {});
  // Collective. Opens a file for reading and changing. Commit publishes a new file with the old contents, the changes
  // and the additions. An unlimited dataset grows to hold data that is put beyond its end.
  static Result<File> reopen(const Communicator& comm, std::string path, std::string_view plan = {});

  // Collective. Copies all contents of FROM into a new file TO, in pieces of bounded size, all or nothing. FROM may be
  // a set or a file of another tool. Copying converts a set to one file, a file to a set, or to another format or other
  // chunks. ONLY, if given, names the datasets and groups to copy; the attributes of their parent groups are copied
  // too. If blocks of ranks form the files (placement=per_rank), or an engine writes them, each rank gets a slab of
  // every dataset.
  static Status copy(const Communicator& comm, std::string from, std::string to, std::string_view plan = {},
                     std::span<const std::string> only = {});

  // Collective. Creates a file at PATH that starts with all contents of TEMPLATE_PATH, a file or a set, which does not
  // change. Put, set and get work as in a reopened file; one commit publishes everything. PLAN applies to the new file.
  // Not available with placement=per_rank or rank_order, nor with engines.
  static Result<File> clone(const Communicator& comm, std::string template_path, std::string path,
                            std::string_view plan = {});

  // Collective. Checks the set at PATH for files that are missing or differ from what was committed. If exactly one
  // does and the set has parity (plan parameter parity=1), the file is rebuilt bit for bit: in a hidden file that takes
  // the name once its checksum agrees. Correct files are not touched. A file that was changed after the commit is kept
  // beside the rebuilt one. Code::damaged, naming everything that is missing, if rebuilding is not possible. Without
  // parity this function only checks, like verify().
  static Result<Repair> repair(const Communicator& comm, const std::string& path);

  // Collective. Renews the checksums, and the parity if any, of a file or set that another tool changed on purpose,
  // from its present contents. All or nothing: a clone replaces a single file; a new index replaces the index of a set
  // and keeps only what penstock reads. Code::damaged, unless FORCE, if by the time stamps nothing has changed the file
  // since the commit, or if the checksum record itself is damaged.
  static Result<Sealed> seal(const Communicator& comm, const std::string& path, bool force = false);

  // A put, get or attribute call that fails makes the next commit fail with its error, on all ranks, so that no error
  // is lost.

  // Local. Copies DATA before it returns, up to the limit of set_capture_bytes (default: an equal share of a quarter of
  // the node's memory). A dataset may consist of any number of blocks, in any order, from any subset of ranks.
  Status put(std::string_view name, ElementType type, const Decomposition& part, const void* data,
             const Memory& memory = {});
  // Local. Same as put without a copy: DATA must stay alive and unchanged until commit returns.
  Status lend(std::string_view name, ElementType type, const Decomposition& part, const void* data,
              const Memory& memory = {});
  // Local. Same as lend, for elements that SUPPLIER produces during commit or commit_start, on this rank and in its
  // thread. Pieces are at most a quarter of memory_bytes and 16 MiB, so a file may be larger than memory. Pieces are
  // requested in file order, each once; with engines once for the checksums and once more. SUPPLIER must not call
  // collective functions of this library. Not for replicated data, nor with placement=rank_order.
  Status supply(std::string_view name, ElementType type, const Decomposition& part, Supplier supplier);
  // Local. Requests a block; DATA is filled when commit returns. TYPE and shape must be those of the dataset.
  Status get(std::string_view name, ElementType type, const Decomposition& part, void* data, const Memory& memory = {});

  // Local. Same as get, but TYPE may be any type that holds all values of the dataset's type: f64 for f32, i64 for u32,
  // f64 for i32, complex128 for f64. The values are converted after commit has read them.
  Status get_widened(std::string_view name, ElementType type, const Decomposition& part, void* data,
                     const Memory& memory = {});

  // Local. Makes the next commit fail with STATUS, on all ranks. For bindings that reject a call by checks of their
  // own.
  void remember_failure(const Status& status);
  // Local. For bindings to languages with exceptions. With FORGETFUL a rejected put, get or attribute call has no later
  // effect, and the file stays usable after a failed commit that only read.
  void set_forgetful(bool forgetful);
  // Collective. get() and commit() in one call. If the get of any rank is rejected, all ranks fail with its error.
  // Nothing else has happened then: earlier puts and gets stay pending, and the file stays usable.
  Status get_now(std::string_view name, ElementType type, const Decomposition& part, void* data,
                 const Memory& memory = {});
  // Collective. The counterpart of get_now on a rank whose binding rejected the call because of WHY. The other ranks
  // call get_now, or commit, which fails in the same way.
  Status refuse_get(const Status& why);
  // Local. Says what the elements of the last put or lend are, if the library has no such type: "bool" stored as i8.
  // Commit returns Code::mismatch if elements of one dataset were put with different words.
  void set_meant(std::string word);
  // Local. Whether the file is open and no commit of it failed.
  bool is_usable() const;
  // Local. Whether this rank has puts, lends or gets that no commit has handled yet.
  bool is_pending() const;

  // Local. Sets an attribute. OBJECT is "" or "/" for the file, otherwise the name of a group or dataset. The last
  // value on a rank counts. Ranks may set different attributes, but not different values of the same attribute.
  Status set_attribute(std::string_view object, Attribute attribute);
  // Local. Creates group NAME, even if it stays empty; an existing group stays.
  Status make_group(std::string_view name);
  // Local; one rank is enough. Removes dataset or group NAME with all its contents: both uncommitted data and the
  // contents of a reopened file. NAME may then be put again with another type and shape. Code::not_found if NAME does
  // not exist.
  Status remove(std::string_view name);
  // Local. Names the dimensions of DATASET, slowest first, as xarray and netCDF show them. HDF5 stores them as
  // dimension scales. A name such as "y" stands for one length in the whole file; "level_1/y" belongs to group level_1.
  // A one-dimensional dataset with the name of a dimension holds its coordinates. The names are stored as attribute
  // "dimensions". Commit returns Code::invalid if they do not fit.
  Status set_dimensions(std::string_view dataset, std::span<const std::string> names);
  // Local. Checks NAMES as set_dimensions does, without setting them.
  static Status check_dimensions(std::string_view dataset, std::span<const std::string> names);
  // Local. Sets how dataset NAME is stored, in this and later commits of this File, where that is not the plan's way:
  // "type=f32,keep_bits=12,compression=zstd,level=3" (docs/precision.md). Every rank that puts NAME sets the same
  // options, before it puts; "" takes them back. Code::invalid or Code::unsupported if the plan cannot store it so.
  Status set_options(std::string_view name, std::string_view options);
  // Local. Allows the first extent of dataset NAME to grow later.
  Status set_unlimited(std::string_view name);
  // Local; one rank is enough. Elements that no rank puts are zero, instead of an error at commit.
  void set_partial(bool partial);
  // Local; one rank is enough. Writes a file for ParaView and VisIt beside each committed hdf5 file: "heat.xmf" for
  // "heat.h5". It describes the meshes of attributes (docs/meshes.md). Commit returns Code::invalid if a description
  // does not fit.
  void set_xdmf(bool xdmf);
  // Local; one rank is enough. Adds the metadata of CONVENTION at each commit: "CF" for netCDF files (names of
  // dimensions, coordinates of meshes), "openPMD" for HDF5 files with openPMD dataset names, "" for none
  // (docs/conventions.md). Commit returns Code::invalid if the file contains nothing to describe, and Code::unsupported
  // in another format.
  Status set_conventions(std::string_view convention);
  // Local. Sets the limit for captured puts of this rank, in bytes.
  void set_capture_bytes(int64_t bytes);

  // Local. The contents at open, in file order (by name).
  std::vector<DatasetInfo> datasets() const;
  Result<DatasetInfo> dataset(std::string_view name) const;
  // Local. Whether OBJECT is a dataset or a group of the file.
  bool has(std::string_view object) const;
  // Code::unsupported if the file has dataset or group OBJECT, but in a form that is not read: its type, for example.
  // Otherwise ok, even if the file does not have it.
  Status check_readable(std::string_view object) const;
  // Local. The number of commits of this File that published something. While it is the same, so is datasets().
  int64_t publications() const;
  Result<Attribute> attribute(std::string_view object, std::string_view name) const;
  std::vector<Attribute> attributes(std::string_view object) const;
  // Local. The names of the dimensions of DATASET; empty if it has none.
  std::vector<std::string> dimensions(std::string_view dataset) const;
  const std::string& path() const;
  std::string plan() const;

  // Collective. Writes all data that was put or lent and publishes one complete file, and fills the buffers of get.
  // With transport servers it returns after the data is handed over; the next commit, commit_wait or close then
  // publishes the data and returns any error.
  Status commit();

  // Collective. Starts a commit in the background: the first of three steps of commit(), so that the program computes
  // while data moves. It takes all data that was put (copied) or lent (alive and unchanged until commit_wait). Later
  // puts belong to the next commit. Buffers of get are filled on return. A commit in progress is finished first.
  //
  // Where the data moves depends on the plan:
  //   in a library thread  if the rank sends and receives nothing (independent; two_phase on one node), or if MPI was
  //                        started with MPI_THREAD_MULTIPLE
  //   in the servers       transport servers
  //   in commit_test       two_phase with messages, and mpiio with synchronism=nonblocking: each call sends and
  //                        receives what it can without waiting
  //   in commit_wait       all other mpiio, and engines
  // While an engine or mpiio works in a thread, this library's own calls of HDF5, netCDF, PnetCDF and MPI-IO wait for
  // it. The program should not call these libraries in that time.
  Status commit_start();
  // Local. Never waits for another rank. False while data moves or while more calls are needed to move it; true when
  // commit_wait is due.
  Result<bool> commit_test();
  // Collective. Waits for a commit in the background and publishes it; returns errors of the data movement. ok if none
  // was started.
  Status commit_wait();

  // Collective. Finishes a commit in progress, commits pending data and releases everything. All ranks get the same
  // status.
  Status close();

  // Collective. Closes the file as the newest of RETAIN restart files. It gets index 0 of PATTERN ("run/restart#.h5"
  // gives restart0.h5, restart1.h5, ...; "##" gives 00, 01, ...). Existing restart files move up by one index; the file
  // that would get index RETAIN is removed with its parts. PATTERN must be in this file's folder. Uncommitted data is
  // written directly to index 0; a committed file is renamed, and its old path is then free. If the file system has
  // hard links, a complete file, old or new, exists at index 0 at all times (docs/decisions/0025-restart-files.md).
  Status close_restart(std::string pattern, int64_t retain);

  // Collective. Reads all published data and compares it with the checksums of its commit. PROGRESS, if given, is
  // called on rank 0 with the completed fraction, from 0 to 1. Code::not_found if the file has no checksums (a set with
  // parity has checksums of whole files); Code::damaged if the checksums cannot be read.
  Result<Verification> verify(const std::function<void(double)>& progress = {});

  // Statistics of the last commit, on this rank.
  const Report& report() const;

  // Local. The ranks that share the file.
  const Communicator& communicator() const;
  // Local; on all ranks or none. For code that tracks files, such as Series. close() calls THEN collectively after
  // everything is published, with the seconds that this rank spent in commits, and returns its status.
  void when_closed(std::function<Status(const File& file, double seconds)> then);

  // Local; on all ranks or none, before anything is put. The file is step NUMBER of a series, from 0: an output profile
  // may write a dataset in some steps only.
  void set_step(int64_t number);

  struct State;  // of core/session

 private:
  explicit File(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace penstock
