// OpenFile: opening, views, hints, closing.
#include "core/transport/mpiio/open_file.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/comm/mpi/io_library.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/comm/share.hpp"

namespace penstock::mpiio {
namespace {

Hints hints_of(MPI_File file) {
  MPI_Info info = MPI_INFO_NULL;
  if (MPI_File_get_info(file, &info) != MPI_SUCCESS) return {};
  Hints hints = hints_in(info);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return hints;
}

Result<bool> same_parts(const Job& job) {
  Encoder out;
  for (const Part& part : job.parts) {
    out.text(part.path);
    out.value(part.bytes);
    out.value(part.virtual_base);
  }
  return same_on_all_ranks(job.comm, out.take());
}

// On a full disk a library may hang or report success, so there must be room for blocks not yet allocated.
Status check_room(const Part& part) {
  struct stat info = {};
  struct statvfs disk = {};
  if (::stat(part.path.c_str(), &info) != 0 || ::statvfs(part.path.c_str(), &disk) != 0) return {};  // open reports it
  const int64_t missing = part.bytes - int64_t{info.st_blocks} * 512;
  const auto free = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  if (missing <= free) return {};
  return {Code::no_space,
          fmt::format("'{}' needs {} more, {} are free", part.path, format_bytes(missing), format_bytes(free))};
}

}  // namespace

Result<PartPlan> plan_parts(const Job& job, const Options& options) {
  PartPlan plan;
  PENSTOCK_ASSIGN(plan.together, same_parts(job));
  std::vector<int64_t> wanted(job.parts.size(), 0);
  for (const Piece& piece : job.pieces)
    if (piece.selection.count() > 0) wanted[static_cast<size_t>(piece.part)] = 1;
  if (plan.together) {
    std::vector<int64_t> readers = wanted;
    PENSTOCK_TRY(job.comm->all_reduce_sum(readers));
    int64_t opens = 0, most = 0;  // by ranks alone, and together
    for (const int64_t n : readers) opens += n, most += n > 0 ? job.comm->size() : 0;
    const bool alone = job.direction == Direction::read && !options.shared() && most > job.comm->size() &&
                       (!options.collective || 2 * opens <= most);
    plan.together = !alone;
    if (!alone)
      for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = readers[i] > 0 ? 1 : 0;
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != 0) plan.open.push_back(i);
  return plan;
}

std::vector<const Piece*> pieces_of(const Job& job, size_t part) {
  std::vector<const Piece*> pieces;
  for (const Piece& piece : job.pieces)
    if (static_cast<size_t>(piece.part) == part && piece.selection.count() > 0) pieces.push_back(&piece);
  return pieces;
}

Result<std::unique_ptr<OpenFile>> OpenFile::open(const Job& job, const Part& part, const Options& options,
                                                 bool together) {
  std::unique_ptr<OpenFile> file(new OpenFile(job, part, options, together));
  const bool writing = job.direction == Direction::write;
  PENSTOCK_TRY(check_hints(job.hints));
  Status status;
  if (!together || job.comm->rank() == 0) status = writing ? check_room(part) : file->check_length();
  if (together) PENSTOCK_TRY(agree(job.comm, status));
  if (writing && together) {
    PENSTOCK_ASSIGN(file->hints_, hints_for_writing(job.comm, job.hints, job.hints_outcome));
  }
  if (status.ok()) status = file->open_here(options);
  if (together) status = agree(job.comm, status);
  if (!status.ok()) return status;
  file->report_hints(options);
  return file;
}

Status OpenFile::open_here(const Options& options) {
  const MPI_Comm comm = together_ ? native(*job_.comm) : MPI_COMM_SELF;
  const int mode = job_.direction == Direction::write ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
  const Info info(hints_);
  PENSTOCK_TRY(mpi_status(MPI_File_open(comm, part_.path.c_str(), mode, info.get(), &file_), "MPI_File_open")
                   .in(fmt::format("'{}'", part_.path)));
  MPI_File_set_errhandler(file_, MPI_ERRORS_RETURN);
  PENSTOCK_ASSIGN(implementation_, io_library_of(file_));
  PENSTOCK_TRY(check_library(options));
  if (options.atomicity)
    PENSTOCK_TRY(mpi_status(MPI_File_set_atomicity(file_, 1), "MPI_File_set_atomicity")
                     .in(fmt::format("atomicity=true with {}", mpi_library_name())));
  if (options.datarep == "native") return {};
  const Status viewed = view(0, MPI_BYTE, MPI_BYTE);
  if (viewed.ok()) return viewed;
  return {Code::unsupported,
          fmt::format("{} has no datarep={}: {}", mpi_library_name(), options.datarep, viewed.message())};
}

Status OpenFile::view(int64_t displacement, MPI_Datatype unit, MPI_Datatype file_type) {
  return mpi_status(MPI_File_set_view(file_, displacement, unit, file_type, datarep_.c_str(), MPI_INFO_NULL),
                    "MPI_File_set_view");
}

bool OpenFile::loses_pending_calls() const {
  return implementation_ == IoLibrary::ompio && job_.comm->threads_may_communicate();
}

Cell OpenFile::possible(Cell cell) const {
  if (cell.synchronism == Synchronism::nonblocking && loses_pending_calls()) cell.synchronism = Synchronism::blocking;
  return cell;
}

void OpenFile::report_hints(const Options& options) const {
  if (job_.hints_outcome == nullptr || !job_.hints_outcome->effective.empty())
    return;  // the first part's hints represent all
  if (options.synchronism == Synchronism::nonblocking && loses_pending_calls())
    job_.hints_outcome->warnings.emplace_back(
        "synchronism=nonblocking is done by blocking calls: with MPI_THREAD_MULTIPLE, OMPIO loses non-blocking ones "
        "(docs/reproducers/two_threads.c); --mca io romio321 does not");
  judge_hints(job_.hints, hints_of(file_), implementation_, together_ ? *job_.comm : *serial_communicator(),
              *job_.hints_outcome);
}

// Rejects what is known to crash or to give wrong data silently.
Status OpenFile::check_library(const Options& options) const {
  if (implementation_ == IoLibrary::open_mpi_romio && options.round_bytes > int64_t{1} << 30)
    return {Code::unsupported,
            fmt::format("the ROMIO of {} crashes in calls of over 2 GiB: use round_bytes=1GiB, or OMPIO",
                        mpi_library_name())};
  if (implementation_ == IoLibrary::ompio || options.synchronism != Synchronism::nonblocking) return {};
  if (implementation_ == IoLibrary::open_mpi_romio && options.collective)
    return {Code::unsupported,
            fmt::format(
                "the ROMIO of {} crashes in non-blocking collective calls (docs/reproducers/nonblocking_collective.c): "
                "use another synchronism, or OMPIO",
                mpi_library_name())};
  if (options.portable())
    return {Code::unsupported, fmt::format("the ROMIO of {} does not convert to external32 in non-blocking calls "
                                           "(docs/reproducers/iwrite_external32.c): use another synchronism",
                                           mpi_library_name())};
  return {};
}

// OMPIO's MPI_File_iread never completes at the end of the file: docs/reproducers/iread_at_end.c.
Status OpenFile::check_length() const {
  PENSTOCK_ASSIGN(const FileStat info, job_.files->stat(part_.path));
  if (info.bytes >= part_.bytes) return {};
  if (job_.direction == Direction::read)
    return {Code::damaged,
            fmt::format("'{}' has {} bytes, {} are needed: it was cut off", part_.path, info.bytes, part_.bytes)};
  return {Code::io, fmt::format("'{}' has {} bytes after writing {} by {}, which reported success", part_.path,
                                info.bytes, part_.bytes, mpi_library_name())};
}

Status OpenFile::close(bool sync) {
  Status status;
  if (sync) status = mpi_status(MPI_File_sync(file_), "MPI_File_sync");
  const Status closed = mpi_status(MPI_File_close(&file_), "MPI_File_close");
  if (status.ok()) status = closed;
  if (status.ok() && job_.direction == Direction::write && (!together_ || job_.comm->rank() == 0))
    status = check_length();
  return status.in(fmt::format("'{}'", part_.path));
}

// A file opened together can only be closed together, which is not assured after a failure on some ranks: it stays open
// until the program ends.
OpenFile::~OpenFile() {
  if (file_ != MPI_FILE_NULL && !together_) MPI_File_close(&file_);
}

}  // namespace penstock::mpiio
