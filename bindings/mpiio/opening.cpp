// Opening: MPI's functions that open, close and remove files, and which of them become ours.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <penstock/mpi.hpp>
#include "bindings/mpiio/advice.hpp"
#include "bindings/mpiio/communicators.hpp"
#include "bindings/mpiio/errors.hpp"
#include "bindings/mpiio/file.hpp"
#include "bindings/mpiio/original.hpp"
#include "bindings/mpiio/settings.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/calling.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/methods/methods.hpp"
#include "core/storage/filesystem.hpp"
#include "core/storage/target.hpp"

namespace penstock::mpiio {

bool threads_call() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

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

namespace {

// NAME without MPI-IO's prefix for a file system: "ufs:out.h5".
std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"ufs:", "nfs:", "xfs:", "lustre:", "gpfs:", "panfs:", "testfs:"})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

bool exists(std::string_view name) {
  std::error_code none;
  return std::filesystem::exists(name, none);
}

// OMPIO takes a prefix for a part of the name.
std::string path_of(std::string_view name) {
  const std::string_view bare = without_prefix(name);
  return std::filesystem::absolute(std::filesystem::path(bare != name && exists(name) ? name : bare)).string();
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
  const std::string_view bare = without_prefix(name);
  if (bare != name && exists(name) && exists(bare))
    return fmt::format("there are two files, '{}' and '{}'", name, bare);
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

// What this rank knows of a file that was just opened.
struct Opening {
  std::string left;  // why it is left to MPI; "" if it need not be
  std::map<std::string, std::string> hints;
  int64_t background_bytes = 0;  // asked for
  std::vector<std::byte> known;  // of wisdom, on rank 0
};

// A file has up to three descriptors, where MPI alone needs one: the process may have more than before, if it has many.
void raise_limit_of_descriptors(int newest) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || std::cmp_less(newest, limit.rlim_cur / 2)) return;
  limit.rlim_cur = std::min(limit.rlim_max, 4 * limit.rlim_cur);
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

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
  raise_limit_of_descriptors(file.held.get());
  file.device = info_now.st_dev;
  file.inode = info_now.st_ino;
  if (file.comm->node_size() < file.comm->size() && is_nfs(file.path))
    opening.left = "NFS shows ranks of several nodes the same file only by locks, which MPI takes";
  const bool hinted =
      std::ranges::any_of(opening.hints, [](const auto& hint) { return hint.second.starts_with("used:"); });
  if (file.automatic && opening.background_bytes == 0 && !hinted && file.comm->rank() == 0 && file.comm->size() > 1)
    opening.known = Advice::known(file);
  return storage_file(file).status();
}

// Maxima over all ranks, all of 64 bits.
struct Words {
  struct Both {
    int64_t most = 0, minus_least = 0;
    bool same() const { return most == -minus_least; }
  };
  int64_t left = 0;
  Both inode, plan, path;
  int64_t lost = 0;                // what the background could not write of files that are closed
  int64_t known = 0;               // bytes of wisdom
  int64_t token = 0;               // rank 0's
  int64_t shows_views = 0;         // no hidden file is possible
  int64_t keeps_communicator = 0;  // others must not have it
  int64_t unusable = 0;            // the communicator
  int64_t threads = 0;             // several may call
};

int64_t hash_of(const std::string& text) { return static_cast<int64_t>(std::hash<std::string>()(text) >> 1); }

// MPICH's files are ROMIO's; those of Open MPI where it is asked for.
bool is_romio() {
#ifdef MPICH_NUMVERSION
  return true;
#else
  const char* const asked = std::getenv("OMPI_MCA_io");
  return asked != nullptr && std::string_view(asked).starts_with("romio");
#endif
}

// As ROMIO does, where nothing else in the program can write at the same time. OMPIO writes nothing that it was not
// given, so that two jobs can write into one file.
bool may_fill_gaps(const File& file) {
  if ((file.amode & MPI_MODE_UNIQUE_OPEN) != 0) return true;
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  return is_romio() && !file.threads && parent == MPI_COMM_NULL;
}

// Collective. HANDLE is open, by a call that began at START; it becomes ours if that is possible on all ranks. REFUSED,
// the same on all ranks: what the background could not write of files that are closed.
Status take(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File handle, double start, Status& refused) {
  auto file = std::make_shared<File>();
  file->handle = handle;
  file->path = path_of(name);
  file->amode = amode;
  file->statistics = statistics_of(file->path);
  PENSTOCK_ASSIGN(file->comm, communicator_for(comm, file->path));
  file->native = native(*file->comm);
  Opening opening;
  const Status looked = guarded([&] { return look_at(*file, name, info, opening); });
  if (!looked.ok()) opening.left = looked.message();
  const auto inode = static_cast<int64_t>(file->inode);
  const RunSettings& settings = run_settings();
  const std::string asked = fmt::format("{} {} {} {} {} {}", file->plan.text(vocabulary()), file->automatic,
                                        settings.keep_back, settings.memory, opening.background_bytes, is_raw());
  const Status lost = lost_in_background();
  const int64_t plan = hash_of(asked), path = hash_of(file->path);
  Words words{.left = !opening.left.empty(),
              .inode = {inode, -inode},
              .plan = {plan, -plan},
              .path = {path, -path},
              .lost = !lost.ok(),
              .known = std::ssize(opening.known),
              .token = file->comm->rank() == 0 ? static_cast<int64_t>(random_token() >> 1) : 0,
              .shows_views = !can_hide_file(file->path),
              .keeps_communicator = !may_share_communicators(),
              .unusable = file->comm->poisoned() || !file->comm->usable().ok(),
              .threads = threads_call()};
  PENSTOCK_TRY(
      check_mpi(MPI_Allreduce(MPI_IN_PLACE, &words, sizeof words / sizeof(int64_t), MPI_INT64_T, MPI_MAX, file->native),
                "MPI_Allreduce"));
  if (words.unusable != 0) {  // ranks gave up a call on it
    drop_communicator(file->comm);
    PENSTOCK_ASSIGN(file->comm, mpi_communicator(comm, file->path));
    file->native = native(*file->comm);
  } else {
    use_communicator(file->comm, words.keeps_communicator == 0);
  }
  struct Leaving {
    Communicator comm;
    ~Leaving() {
      if (comm != nullptr) leave_communicator(comm);
    }
  } not_taken{file->comm};
  file->threads = words.threads != 0;
  file->token = words.token;
  if (file->threads) file->opened_on = ask_at_barriers(comm);
  file->hides_views = words.shows_views == 0 && words.path.same();
  file->hidden = hidden_file(file->path, words.token);
  if (words.lost != 0) {
    refused = agree(file->comm, lost);
    return {};
  }
  if (words.left != 0 && opening.left.empty()) opening.left = "another rank leaves it to MPI, or cannot open it itself";
  if (words.left == 0 && !words.inode.same()) opening.left = "the ranks have opened different files of this name";
  file->keeps_alone = is_raw() && settings.keep_back && file->writable() && opening.background_bytes == 0;
  file->at_once = file->is_known = !settings.keep_back || file->keeps_alone;
  if (!words.plan.same()) {  // what each rank decides for itself must be the same on all
    file->plan = plan_of("auto", {}, opening.hints);
    file->automatic = file->at_once = file->is_known = true;
    opening.background_bytes = 0;
    file->keeps_alone = false;
    for (auto& [hint, what] : opening.hints) what = "not used: the ranks have different hints or settings";
  } else if (words.known > 0) {
    PENSTOCK_ASSIGN(file->advice, Advice::tell(*file, std::move(opening.known)));
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
  file->fills_gaps = may_fill_gaps(*file);
  file->is_sole = file->in_world && file->comm->size() == world && also.empty();
  for (const auto& other : also) {
    other->is_sole = false;
    const std::unique_lock lock(other->busy, std::try_to_lock);
    if (!lock.owns_lock()) continue;
    if (const Status written = write_kept(*other); !written.ok()) other->failed = written;
  }
  const Together together(*file);
  if (opening.background_bytes > 0) {
    std::string why_not;
    file->background = Background::begin(*file, opening.background_bytes, why_not);
    file->storage_file.reset();  // it was opened before
    const std::lock_guard lock(statistics.mutex);
    statistics.background.why_not = why_not;
  }
  remember(file);
  not_taken.comm = nullptr;
  return {};
}

}  // namespace

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
  const auto file = find(*handle);  // also where a handler calls that MPI has called inside a function of ours
  int failed = MPI_SUCCESS;
  std::optional<CallTimer> timer;
  if (file != nullptr) {
    const Inside inside;  // an error is told before MPI closes it
    timer.emplace(*file->statistics, "MPI_File_close");
    const Untimed untimed(file->comm, run_settings().waits);
    const std::lock_guard lock(file->busy);
    const Together together(*file);
    Status status = guarded([&] { return move_kept(*file, "MPI_File_close"); });
    if (status.ok()) status = std::exchange(file->failed, {});
    if (file->background)
      if (const Status told = agree(file->comm, file->background->failure()); status.ok()) status = told;
    if (status.ok() && file->storage_file) status = file->storage_file->close();
    if (file->background)
      if (const Status ended = file->background->end(); status.ok()) status = ended;
    failed = raise(*file, "MPI_File_close", status);
    file->storage_file.reset();
    forget(*handle);
    leave_communicator(file->comm);
  }
  const Inside inside;
  const int error = original->File_close(handle);  // where ranks wait for each other
  if (file != nullptr) remove_pointers(file->hidden);
  return failed == MPI_SUCCESS ? error : failed;
}

}  // namespace penstock::mpiio
