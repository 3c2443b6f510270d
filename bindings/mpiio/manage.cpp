// Manage: MPI's functions on files that do not read or write, and those of the program's start and end.
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include <penstock/mpi.hpp>
#include "bindings/mpiio/errors.hpp"
#include "bindings/mpiio/file.hpp"
#include "bindings/mpiio/original.hpp"
#include "bindings/mpiio/settings.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/methods/methods.hpp"
#include "core/storage/filesystem.hpp"
#include "core/storage/target.hpp"
#include "core/transport/transport.hpp"

namespace penstock::mpiio {
namespace {

// Runs WORK on our file behind HANDLE; PASS if it is not ours.
template <typename Work, typename Pass>
int on_file(MPI_File handle, const char* call, Work work, Pass pass) {
  if (Inside::already()) return pass();
  const Inside inside;
  const auto file = find(handle);
  if (file == nullptr) return pass();
  const std::lock_guard lock(file->busy);
  const CallTimer timer(*file->statistics, call);
  return work(*file);
}

// Whether MPI may refuse a view of this type: MPICH does so on the rank that has it. Others take it.
bool is_judged_by_mpi([[maybe_unused]] const Flat& filetype) {
#ifdef MPICH_NUMVERSION
  int64_t end = 0;
  for (const Flat::Run& run : filetype.runs) {
    if (run.at < end) return true;
    end = run.at + run.length;
  }
#endif
  return false;
}

// --- opening ---

// The path of a name with MPI-IO's prefix for a file system: "ufs:out.h5".
std::string path_of(std::string_view name) {
  for (const std::string_view prefix : {"ufs:", "nfs:", "xfs:", "lustre:", "gpfs:", "panfs:", "testfs:"})
    if (name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      break;
    }
  return std::filesystem::absolute(std::filesystem::path(name)).string();
}

// Why a file opened like this is left to MPI; "" if it is not.
std::string why_left(const char* name, int amode, const std::string& plan) {
  if (plan == "none") return "plan none";
  for (const auto& [flag, word] : {std::pair{MPI_MODE_APPEND, "MPI_MODE_APPEND"},
                                   {MPI_MODE_DELETE_ON_CLOSE, "MPI_MODE_DELETE_ON_CLOSE"},
                                   {MPI_MODE_SEQUENTIAL, "MPI_MODE_SEQUENTIAL"}})
    if (amode & flag) return word;
  struct stat info{};
  const std::string path = path_of(name);
  if (::stat(path.c_str(), &info) != 0) return "its name is not a path: " + std::string(name);
  return S_ISREG(info.st_mode) ? "" : "it is not a regular file";
}

bool is_nfs(const std::string& path) {
  const auto system = known_file_system(folder_of(path));
  return system.ok() && system->type.starts_with("nfs");
}

// The plan that TEXT and the program's hints ask for; what was done with each hint is noted.
Plan plan_of(const std::string& text, const Hints& hints, std::map<std::string, std::string>& done) {
  const bool automatic = text == "auto";
  std::map<std::string, std::string> parameters;
  std::string transport = "two_phase";
  for (const auto& [name, value] : hints) {
    std::string& what = done[name + "=" + value];
    const auto number = std::string_view(value).find_first_not_of("0123456789") == std::string::npos && value != "0";
    if (name.starts_with("striping_"))
      what = "used by MPI when it made the file";
    else if (!automatic)
      what = "not used: the plan was named";
    else if (name == "cb_nodes" && number)
      what = "used: writers=" + (parameters["writers"] = value);
    else if (name == "cb_buffer_size" && number)
      what = "used: buffer_bytes=" + (parameters["buffer_bytes"] = value);
    else if (name == "romio_cb_write" && value == "disable")
      what = "used: " + (transport = "independent");
    else
      what = "not needed";
  }
  if (transport == "independent") parameters.clear();
  std::string wanted = automatic ? transport : text;
  // A program asks for durable data by MPI_File_sync.
  if (wanted.find("durability=") == std::string::npos) parameters["durability"] = "none";
  for (const auto& [name, value] : parameters)
    wanted += fmt::format("{}{}={}", wanted.find(':') == std::string::npos ? ":" : ",", name, value);
  auto plan = parse_plan(wanted, "raw", vocabulary());
  return plan.ok() ? *std::move(plan) : *parse_plan("two_phase:durability=none", "raw", vocabulary());
}

// Whether all ranks of FILE are in COMM.
bool has_ranks_of(MPI_Comm comm, const File& file) {
  int inter = 1;
  MPI_Comm_test_inter(comm, &inter);
  if (inter != 0) return false;
  MPI_Group outer = MPI_GROUP_NULL, inner = MPI_GROUP_NULL, both = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &outer);
  MPI_Comm_group(file.native, &inner);
  MPI_Group_intersection(outer, inner, &both);
  int common = 0;
  MPI_Group_size(both, &common);
  for (MPI_Group* group : {&outer, &inner, &both}) MPI_Group_free(group);
  return common == file.comm->size();
}

// What this rank knows of a file that was just opened.
struct Opening {
  std::string left;  // why it is left to MPI; "" if it need not be
  std::map<std::string, std::string> hints;
  int64_t background_bytes = 0;  // asked for
};

// Local.
Status look_at(File& file, const char* name, MPI_Info info, Opening& opening) {
  const std::string& plan = run_settings().plan_for(file.path);
  opening.background_bytes = background_bytes(plan);
  file.automatic = plan == "auto" || opening.background_bytes > 0;
  file.plan = plan_of(file.automatic || plan == "none" ? "auto" : plan, hints_in(info), opening.hints);
  if (file.plan.transport != "two_phase") file.automatic = false;
  opening.left = why_left(name, file.amode, plan);
  if (!opening.left.empty()) return {};
  file.held = FileDescriptor(::open(file.path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info_now{};
  if (file.held.get() < 0 || ::fstat(file.held.get(), &info_now) != 0)
    return Status::from_errno(errno, "'" + file.path + "'");
  file.inode = info_now.st_ino;
  if (file.comm->node_size() < file.comm->size() && is_nfs(file.path))
    opening.left = "NFS shows ranks of several nodes the same file only by locks, which MPI takes";
  return storage_file(file).status();
}

// Collective. HANDLE is open, by a call that began at START; it becomes ours if that is possible on all ranks. REFUSED,
// the same on all ranks: what the background could not write of files that are closed.
Status take(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File handle, double start, Status& refused) {
  auto file = std::make_shared<File>();
  file->handle = handle;
  file->path = path_of(name);
  file->amode = amode;
  file->statistics = statistics_of(file->path);
  PENSTOCK_ASSIGN(file->comm, mpi_communicator(comm, file->path));
  file->native = native(*file->comm);
  Opening opening;
  const Status looked = guarded([&] { return look_at(*file, name, info, opening); });
  if (!looked.ok()) opening.left = looked.message();
  const auto inode = static_cast<int64_t>(file->inode);
  const RunSettings& settings = run_settings();
  const std::string asked = fmt::format("{} {} {} {} {} {}", file->plan.text(vocabulary()), file->automatic,
                                        settings.keep_back, settings.memory, opening.background_bytes, is_raw());
  const auto plan = static_cast<int64_t>(std::hash<std::string>()(asked) >> 1);
  const Status lost = lost_in_background();
  int64_t words[6] = {!opening.left.empty(), inode, -inode, plan, -plan, !lost.ok()};
  PENSTOCK_TRY(check_mpi(MPI_Allreduce(MPI_IN_PLACE, words, 6, MPI_INT64_T, MPI_MAX, file->native), "MPI_Allreduce"));
  if (words[5] != 0) {
    refused = agree(file->comm, lost);
    return {};
  }
  if (words[0] != 0 && opening.left.empty()) opening.left = "another rank leaves it to MPI, or cannot open it itself";
  if (words[0] == 0 && words[1] != -words[2]) opening.left = "the ranks have opened different files of this name";
  file->keeps_alone = is_raw() && settings.keep_back && file->writable() && opening.background_bytes == 0;
  file->at_once = file->is_known = !settings.keep_back || file->keeps_alone;
  if (words[3] != -words[4]) {  // what each rank decides for itself must be the same on all
    file->plan = plan_of("auto", {}, opening.hints);
    file->automatic = file->at_once = file->is_known = true;
    opening.background_bytes = 0;
    file->keeps_alone = false;
    for (auto& [hint, what] : opening.hints) what = "not used: the ranks have different hints or settings";
  }
  Statistics& statistics = *file->statistics;
  {
    const std::lock_guard lock(statistics.mutex);
    ++statistics.opened;
    CallCount& count = statistics.calls["MPI_File_open"];
    ++count.count;
    count.seconds += now() - start;
    statistics.ranks = std::max<int64_t>(statistics.ranks, file->comm->size());
    for (const auto& [hint, what] : opening.hints) statistics.hints[hint] = what;
  }
  if (!opening.left.empty()) {
    statistics.pass("MPI_File_open", opening.left);
    return {};
  }
  file->in_world = has_ranks_of(MPI_COMM_WORLD, *file);
  int world = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  const auto also = others(*file);
  file->is_sole = file->in_world && file->comm->size() == world && also.empty();
  for (const auto& other : also) {
    other->is_sole = false;
    const std::unique_lock lock(other->busy, std::try_to_lock);
    if (!lock.owns_lock()) continue;
    if (const Status written = write_kept(*other); !written.ok()) other->failed = written;
  }
  file->caller = std::this_thread::get_id();
  if (opening.background_bytes > 0) {
    std::string why_not;
    file->background = Background::begin(*file, opening.background_bytes, why_not);
    file->storage_file.reset();  // it was opened before
    const std::lock_guard lock(statistics.mutex);
    statistics.background.why_not = why_not;
  }
  remember(file);
  return {};
}

// Collective. What was written is in the file, for what MPI does with it.
Status move_all(File& file, const char* call) {
  const Status moved = move_kept(file, call), drained = drain_together(file);
  return moved.ok() ? drained : moved;
}

// Moves what is kept in FILE, for a call that goes on to MPI.
template <typename Pass>
int moved_first(MPI_File handle, const char* call, Pass pass) {
  return on_file(
      handle, call,
      [&](File& file) {
        file.caller = std::this_thread::get_id();
        const int error = raise(file, call, move_all(file, call));
        return error == MPI_SUCCESS ? pass() : error;
      },
      pass);
}

Result<int64_t> file_size(File& file) {
  PENSTOCK_ASSIGN(const int64_t size, size_of(file));
  return std::max(size, kept_end(file));
}

// Whether several threads may call MPI at once.
bool threads_call() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

// Whether the file begins as one of classic netCDF.
bool is_classic(File& file) {
  std::array<std::byte, 3> magic{};
  const auto bytes = read_alone(file, {{0, magic.data(), std::ssize(magic), 0}});
  return bytes.ok() && *bytes == std::ssize(magic) && std::memcmp(magic.data(), "CDF", magic.size()) == 0;
}

// Collective. Finds out at the first view after a collective write, where this rank went BACK to a view of bytes or did
// not, whether the program is HDF5. PnetCDF goes back, too, and keeps to MPI's rules for what others read.
Status know(File& file, bool back) {
  if (file.is_known || file.pace.calls == 0) return {};
  file.is_known = true;
  file.caller = std::this_thread::get_id();
  int64_t words[3] = {!back, back && is_classic(file), threads_call()};
  PENSTOCK_TRY(check_mpi(MPI_Allreduce(MPI_IN_PLACE, words, 3, MPI_INT64_T, MPI_MAX, file.native), "MPI_Allreduce"));
  if (words[0] != 0 || words[1] != 0) return {};
  file.at_once = file.is_asking = true;
  file.gathers = words[2] == 0;
  return move_kept(file, "MPI_File_set_view");
}

}  // namespace

Status give_view(File& file) {
  file.view_in_mpi = true;
  return check_mpi(original->File_set_view(file.handle, file.view.displacement(), file.view.etype().get(),
                                           file.view.filetype().get(), file.datarep.c_str(), MPI_INFO_NULL),
                   "MPI_File_set_view");
}

int Init(int* argc, char*** argv) {
  const int error = original->Init(argc, argv);
  start_report();
  return error;
}

int Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int error = original->Init_thread(argc, argv, required, provided);
  start_report();
  return error;
}

int Finalize() {
  Status lost;
  if (!Inside::already()) {
    const Inside inside;
    for (const auto& file : open_files())
      if (const Status status = guarded([&] { return move_kept(*file, "MPI_Finalize"); }); !status.ok())
        file->statistics->fail("MPI_Finalize: " + status.message());
    for (const auto& file : open_files()) {
      if (file->background) (void)file->background->end();
      forget(file->handle);
    }
    drain_process();
    lost = end_background();
    (void)guarded([] {
      write_report();
      return Status();
    });
    end_ledger();
  }
  const int error = original->Finalize();
  return error == MPI_SUCCESS ? class_of(lost.code()) : error;
}

// Programs, and HDF5, count on a barrier to make what was written before visible after it. So it moves what is kept.
// Where threads call at once, it does so for the files that this thread writes: on all ranks it is the same one.
int Barrier(MPI_Comm comm) {
  if (!Inside::already()) {
    const Inside inside;
    for (const auto& file : open_files()) {
      if (file->background && !file->is_sole) (void)file->background->drain();  // for those with other handles
      if (threads_call() && file->caller != std::this_thread::get_id()) continue;
      const std::lock_guard lock(file->busy);
      if ((file->kept.calls.empty() && !file->keeps_alone) ||
          !(comm == MPI_COMM_WORLD ? file->in_world : has_ranks_of(comm, *file)))
        continue;
      const CallTimer timer(*file->statistics, "MPI_Barrier");
      if (const Status status = guarded([&] { return move_kept(*file, "MPI_Barrier"); }); !status.ok())
        file->failed = status;
    }
  }
  return original->Barrier(comm);
}

int File_open(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* handle) {
  if (Inside::already()) return original->File_open(comm, name, amode, info, handle);
  const Inside inside;
  const double start = now();
  const auto wait_for_it = [&] { return guarded([&] { return wait_for_path(path_of(name)), Status(); }); };
  (void)wait_for_it();  // MPI looks for the end of some
  const int error = original->File_open(comm, name, amode, info, handle);
  if (error != MPI_SUCCESS) return error;
  (void)wait_for_it();  // another rank may have closed it since
  Status refused;
  // A file that cannot be taken stays MPI's.
  (void)guarded([&] { return take(comm, name, amode, info, *handle, start, refused); });
  if (refused.ok()) return MPI_SUCCESS;
  const int code = error_code(refused.in("MPI_File_open, of a file that was closed before"));
  MPI_File_call_errhandler(*handle, code);
  original->File_close(handle);
  *handle = MPI_FILE_NULL;
  return code;
}

int File_delete(const char* name, MPI_Info info) {
  if (!Inside::already()) (void)guarded([&] { return wait_for_path(path_of(name)), Status(); });
  return original->File_delete(name, info);
}

int File_close(MPI_File* handle) {
  if (Inside::already()) return original->File_close(handle);
  const Inside inside;
  const auto file = find(*handle);
  if (file == nullptr) return original->File_close(handle);
  int failed = MPI_SUCCESS;
  const CallTimer timer(*file->statistics, "MPI_File_close");
  {
    const std::lock_guard lock(file->busy);
    Status status = guarded([&] { return move_kept(*file, "MPI_File_close"); });
    if (status.ok()) status = std::exchange(file->failed, {});
    if (file->background)
      if (const Status told = agree(file->comm, file->background->failure()); status.ok()) status = told;
    if (status.ok() && file->storage_file) status = file->storage_file->close();
    if (file->background)
      if (const Status ended = file->background->end(); status.ok()) status = ended;
    failed = raise(*file, "MPI_File_close", status);
    file->storage_file.reset();
  }
  forget(*handle);
  const int error = original->File_close(handle);
  return failed == MPI_SUCCESS ? error : failed;
}

int File_sync(MPI_File handle) {
  return on_file(
      handle, "MPI_File_sync",
      [&](File& file) {
        file.caller = std::this_thread::get_id();
        Status status = move_kept(file, "MPI_File_sync");
        if (status.ok()) status = std::exchange(file.failed, {});
        if (status.ok()) status = sync(file);
        if (status.ok() && file.why_passed() != nullptr) return original->File_sync(handle);
        return raise(file, "MPI_File_sync", status);
      },
      [&] { return original->File_sync(handle); });
}

int File_set_size(MPI_File handle, MPI_Offset size) {
  const auto pass = [&] { return original->File_set_size(handle, size); };
  return on_file(
      handle, "MPI_File_set_size",
      [&](File& file) {
        file.caller = std::this_thread::get_id();
        Status status = move_kept(file, "MPI_File_set_size");
        if (file.background && size < file.background->noted_end())  // not so where HDF5 sets what it has written
          if (const Status drained = drain_together(file); status.ok()) status = drained;
        const int error = raise(file, "MPI_File_set_size", status);
        return error == MPI_SUCCESS ? pass() : error;
      },
      pass);
}

int File_preallocate(MPI_File handle, MPI_Offset size) {
  return moved_first(handle, "MPI_File_preallocate", [&] { return original->File_preallocate(handle, size); });
}

int File_set_info(MPI_File handle, MPI_Info info) {
  return on_file(
      handle, "MPI_File_set_info",
      [&](File& file) {
        const std::lock_guard lock(file.statistics->mutex);
        for (const auto& [name, value] : hints_in(info))
          file.statistics->hints.try_emplace(name + "=" + value, "given to MPI");
        return original->File_set_info(handle, info);
      },
      [&] { return original->File_set_info(handle, info); });
}

int File_get_size(MPI_File handle, MPI_Offset* size) {
  return on_file(
      handle, "MPI_File_get_size",
      [&](File& file) {
        const auto bytes = file_size(file);
        *size = bytes.ok() ? *bytes : 0;
        return raise(file, "MPI_File_get_size", bytes.status());
      },
      [&] { return original->File_get_size(handle, size); });
}

int File_set_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                  const char* datarep, MPI_Info info) {
  const auto pass = [&] { return original->File_set_view(handle, displacement, etype, filetype, datarep, info); };
  return on_file(
      handle, "MPI_File_set_view",
      [&](File& file) {
        const bool back = displacement == 0 && etype == MPI_BYTE && filetype == MPI_BYTE;
        if (const int error = raise(file, "MPI_File_set_view", know(file, back))) return error;
        if (displacement < 0 || etype == MPI_DATATYPE_NULL || filetype == MPI_DATATYPE_NULL)
          return pass();  // its error
        const std::string before = std::exchange(file.datarep, datarep == nullptr ? "native" : datarep);
        const bool give =
            file.why_passed() != nullptr || file.views++ < most_given_views || is_judged_by_mpi(*flat(filetype));
        if (file.why_passed() != nullptr)
          if (const int error = raise(file, "MPI_File_set_view", move_all(file, "MPI_File_set_view"))) return error;
        if (give)
          if (const int error = pass(); error != MPI_SUCCESS) {
            file.datarep = before;
            return error;
          }
        file.view_in_mpi = give;
        file.view = View(displacement, etype, filetype);
        file.position = 0;
        return MPI_SUCCESS;
      },
      pass);
}

int File_get_view(MPI_File handle, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                  char* datarep) {
  const auto pass = [&] { return original->File_get_view(handle, displacement, etype, filetype, datarep); };
  return on_file(
      handle, "MPI_File_get_view",
      [&](File& file) {
        if (file.why_passed() != nullptr) return pass();
        *displacement = file.view.displacement();
        *etype = file.view.etype().copy();
        *filetype = file.view.filetype().copy();
        file.datarep.copy(datarep, MPI_MAX_DATAREP_STRING - 1);
        datarep[std::min<size_t>(file.datarep.size(), MPI_MAX_DATAREP_STRING - 1)] = '\0';
        return MPI_SUCCESS;
      },
      pass);
}

int File_seek(MPI_File handle, MPI_Offset offset, int whence) {
  const auto pass = [&] { return original->File_seek(handle, offset, whence); };
  return on_file(
      handle, "MPI_File_seek",
      [&](File& file) {
        if (file.why_passed() != nullptr) return pass();
        int64_t from = 0;
        if (whence == MPI_SEEK_CUR) from = file.position;
        if (whence == MPI_SEEK_END) {
          const auto size = file_size(file);
          if (!size.ok()) return raise(file, "MPI_File_seek", size.status());
          const int64_t bytes = file.view.before(*size), etype = file.view.etype_bytes();
          from = (bytes + etype - 1) / etype;
        }
        if (from + offset < 0 || (whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR && whence != MPI_SEEK_END))
          return raise(file, "MPI_File_seek",
                       {Code::invalid, fmt::format("to {}, which is before the view begins", from + offset)});
        file.position = from + offset;
        return MPI_SUCCESS;
      },
      pass);
}

int File_get_position(MPI_File handle, MPI_Offset* offset) {
  const auto pass = [&] { return original->File_get_position(handle, offset); };
  return on_file(
      handle, "MPI_File_get_position",
      [&](File& file) {
        if (file.why_passed() != nullptr) return pass();
        *offset = file.position;
        return MPI_SUCCESS;
      },
      pass);
}

int File_get_byte_offset(MPI_File handle, MPI_Offset offset, MPI_Offset* place) {
  const auto pass = [&] { return original->File_get_byte_offset(handle, offset, place); };
  return on_file(
      handle, "MPI_File_get_byte_offset",
      [&](File& file) {
        if (file.why_passed() != nullptr || offset < 0) return pass();
        *place = file.view.place(offset * file.view.etype_bytes());
        return MPI_SUCCESS;
      },
      pass);
}

int File_seek_shared(MPI_File handle, MPI_Offset offset, int whence) {
  const auto pass = [&] { return original->File_seek_shared(handle, offset, whence); };
  return moved_first(handle, "MPI_File_seek_shared", [&] {
    const auto file = find(handle);
    if (file != nullptr && !file->view_in_mpi)
      if (const int error = raise(*file, "MPI_File_seek_shared", give_view(*file))) return error;
    return pass();
  });
}

int File_get_position_shared(MPI_File handle, MPI_Offset* offset) {
  const auto pass = [&] { return original->File_get_position_shared(handle, offset); };
  return on_file(
      handle, "MPI_File_get_position_shared",
      [&](File& file) {
        if (file.view_in_mpi) return pass();
        *offset = 0;  // a new view has set it so
        return MPI_SUCCESS;
      },
      pass);
}

int File_set_atomicity(MPI_File handle, int flag) {
  const auto pass = [&] { return original->File_set_atomicity(handle, flag); };
  return on_file(
      handle, "MPI_File_set_atomicity",
      [&](File& file) {
        file.caller = std::this_thread::get_id();
        Status status = move_all(file, "MPI_File_set_atomicity");
        const bool was_passed = file.why_passed() != nullptr;
        if (status.ok() && !was_passed && flag != 0) {
          if (!file.view_in_mpi) status = give_view(file);
          if (status.ok()) original->File_seek(handle, file.position, MPI_SEEK_SET);
        }
        if (!status.ok()) return raise(file, "MPI_File_set_atomicity", status);
        const int error = pass();
        if (error != MPI_SUCCESS) return error;
        file.atomic = flag != 0;
        if (was_passed && file.why_passed() == nullptr) {
          MPI_Offset position = 0;
          original->File_get_position(handle, &position);
          file.position = position;
        }
        return MPI_SUCCESS;
      },
      pass);
}

}  // namespace penstock::mpiio
