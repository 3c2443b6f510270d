// metadata: all ranks create, open, stat, close and remove many files; and typical commands on the files that methods
// produce (IDRIS, I/O massivement paralleles, 2011).
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "bench/case.hpp"
#include "bench/measure/timed.hpp"
#include "bench/program/program.hpp"
#include "bench/shared_status.hpp"
#include "bench/verify/truth.hpp"
#include "core/base/file_descriptor.hpp"
#include "core/base/units.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace penstock::bench {

namespace {

namespace fs = std::filesystem;

constexpr int64_t max_files = 100000;
constexpr int64_t slack = 1024;  // inodes for folders and for other users
constexpr int64_t buffer_bytes = 4 << 20;
constexpr std::array made_by = {"create", "close", "open", "stat", "remove"};
constexpr std::array handled_by = {"list", "copy", "tar", "remove"};

// N files of all ranks together, in one folder or in a folder per rank.
struct Pattern {
  int64_t files = 1;
  bool many = false;
  std::string method() const { return many ? "a folder per rank" : "one folder"; }
  std::string name() const { return fmt::format("{} file{}", files, files == 1 ? "" : "s"); }
};

// The files that a method produces.
struct Set {
  int64_t bytes = 0, allocated = 0, inodes = 0;
};

Result<Set> measure_set(const std::string& folder) {
  Set set;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    struct stat about{};
    if (::lstat(entry->path().c_str(), &about) != 0)
      return Status::from_errno(errno, fmt::format("stat of {}", entry->path().string()));
    set.bytes += S_ISREG(about.st_mode) ? about.st_size : 0;
    set.allocated += about.st_blocks * 512;
    ++set.inodes;
  }
  if (error) return Status::from_errno(error.value(), fmt::format("listing {}", folder));
  return set;
}

// Saturates at the largest number: such an amount fits on no disk.
int64_t product(int64_t a, int64_t b) { return b > 0 && a > INT64_MAX / b ? INT64_MAX : a * b; }

// Writes BUFFER repeatedly, BYTES in total; false with errno on failure.
bool fill_file(int file, std::span<const std::byte> buffer, int64_t bytes) {
  while (bytes > 0) {
    const size_t length = std::min(buffer.size(), static_cast<size_t>(bytes));
    const ssize_t written = retrying([&] { return ::write(file, buffer.data(), length); });
    if (written < 0) return false;
    bytes -= written;
  }
  return true;
}

// Runs a system command like a user, without its output.
Status command(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Status::from_errno(error, fmt::format("starting {}", words[0]));
  int status = 0;
  if (retrying([&] { return ::waitpid(child, &status, 0); }) < 0) return Status::from_errno(errno, words[0]);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Status(Code::io, fmt::format("{} ended with status {}", words[0], status));
}

class Metadata : public Program {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--files", files_, "how many, of all ranks together: 1,10,100,1000")->delimiter(',');
    app.add_option("--folders", folders_, "one for all, or many: one for each rank")->delimiter(',');
    app.add_option("--file-bytes", file_bytes_text_, "that each file gets")->capture_default_str();
    app.add_option("--methods", methods_text_,
                   "FORMAT/TRANSPORT[:...],...: list, copy, tar and remove what each of them leaves of block2d");
    app.add_option("--per-rank", per_rank_text_, "of --methods: bytes of each rank")->capture_default_str();
  }

  Status prepare(const Communicator& comm, const std::string& folder, const RunWords& words) override {
    folder_ = folder;
    seed_ = words.seed;
    PENSTOCK_TRY(agree(comm, understand(comm->size())));
    return from_root(comm, comm->rank() == 0 ? check_room() : Status());
  }

  std::vector<std::string> turns() const override {
    std::vector<std::string> names;
    for (const Pattern& pattern : patterns_) names.push_back(fmt::format("{}, {}", pattern.name(), pattern.method()));
    for (const Method& method : methods_) names.push_back(fmt::format("set of {}", method.label));
    return names;
  }

  std::vector<TimedCase> cases() const override {
    std::vector<TimedCase> made;
    for (const Pattern& pattern : patterns_) {
      if (made.empty() || made.back().name != pattern.name())
        made.push_back({.name = pattern.name(),
                        .workload = {{"name", "metadata"},
                                     {"files", pattern.files},
                                     {"file_bytes", file_bytes_},
                                     {"total_bytes", pattern.files * file_bytes_}},
                        .baseline = pattern.method(),
                        .operations = {}});
      for (const char* operation : made_by)
        made.back().find(pattern.method(), operation).more = {{"files", pattern.files}};
    }
    if (methods_.empty()) return made;
    made.push_back({.name = "sets of files",
                    .workload = {{"name", "metadata"}, {"total_bytes", total_bytes(*workload_)}},
                    .baseline = methods_[0].label,
                    .operations = {}});
    for (const Method& method : methods_)
      for (const char* operation : handled_by) made.back().find(method.label, operation);
    return made;
  }

  Status take(const Communicator& comm, size_t turn, int repetition, TimedRun& run) override {
    if (turn < patterns_.size()) return take_files(comm, patterns_[turn], repetition, run);
    return take_set(comm, methods_[turn - patterns_.size()], repetition, run);
  }

 private:
  Status understand(int ranks) {
    for (const std::string& text : folders_)
      if (text != "one" && text != "many") return invalid(fmt::format("--folders is one or many, not '{}'", text));
    PENSTOCK_ASSIGN(file_bytes_, parse_bytes(file_bytes_text_));
    std::sort(files_.begin(), files_.end());
    files_.erase(std::unique(files_.begin(), files_.end()), files_.end());
    for (const int64_t files : files_) {
      if (files < 1 || files > max_files) return invalid(fmt::format("--files {}: from 1 to {}", files, max_files));
      for (const std::string& text : folders_) patterns_.push_back({files, text == "many"});
    }
    for (const std::string& label : split_methods(methods_text_)) {
      PENSTOCK_ASSIGN(Method method, make_method(label, Regime::durable));
      if (method.reference) return invalid(fmt::format("--methods {}: it leaves no set", label));
      methods_.push_back(std::move(method));
    }
    WorkloadRequest request;
    PENSTOCK_ASSIGN(request.bytes_per_rank, parse_bytes(per_rank_text_));
    if (request.bytes_per_rank < 1) return invalid("--per-rank must be positive");
    request.ranks = ranks;
    PENSTOCK_ASSIGN(workload_, make_workload("block2d", request));
    return {};
  }

  // Of inodes and bytes, before anything is created.
  Status check_room() const {
    struct statvfs about{};
    if (::statvfs(folder_.c_str(), &about) != 0) return Status::from_errno(errno, folder_);
    int64_t files = 0;
    for (const Pattern& pattern : patterns_) files = std::max(files, pattern.files);
    const auto inodes = static_cast<int64_t>(about.f_favail);
    if (about.f_files > 0 && inodes < files + slack)
      return Status(Code::no_space,
                    fmt::format("{} has {} inodes free, {} files need {}", folder_, inodes, files, files + slack));
    const int64_t block = static_cast<int64_t>(about.f_frsize);
    const int64_t each = product(file_bytes_ / block + (file_bytes_ % block > 0 ? 1 : 0), block);
    const int64_t need = std::max(product(files, each), methods_.empty() ? 0 : product(4, total_bytes(*workload_)));
    const int64_t free = static_cast<int64_t>(about.f_bavail) * block;
    if (free < need)
      return Status(Code::no_space,
                    fmt::format("{} has {} free, this needs {}", folder_, format_bytes(free), format_bytes(need)));
    return {};
  }

  // The files of RANK.
  template <typename Visit>
  void each_file(const Communicator& comm, const Pattern& pattern, int rank, Visit visit) const {
    const int64_t from = pattern.files * rank / comm->size(), to = pattern.files * (rank + 1) / comm->size();
    for (int64_t file = from; file < to; ++file)
      visit(fmt::format("{}/{}/file{:06}", folder_, pattern.many ? fmt::format("files/{}", rank) : "files", file));
  }

  Status take_files(const Communicator& comm, const Pattern& pattern, int repetition, TimedRun& run) {
    PENSTOCK_TRY(from_root(comm, comm->rank() == 0 ? make_folders(comm->size(), pattern.many) : Status()));
    std::array<double, 5> seconds{};
    const Status done = work(comm, pattern, seconds);
    const Status all = agree(comm, done);
    Status clean = all;
    if (comm->rank() == 0) clean = remove_folders(clean);
    clean = from_root(comm, clean);
    TimedCase& one = case_of(run, pattern.name());
    for (size_t i = 0; i < made_by.size(); ++i) {
      TimedOperation& operation = one.find(pattern.method(), made_by[i]);
      if (clean.ok())
        PENSTOCK_TRY(record(comm, repetition, seconds[i], operation));
      else
        operation.error = clean;
    }
    return {};
  }

  // The rank after a file's creator opens and stats it; its node may not know the file yet.
  Status work(const Communicator& comm, const Pattern& pattern, std::array<double, 5>& seconds) const {
    enum { create, close, open, stat, remove };
    Status status;
    const auto fails = [&](const std::string& path) {
      if (status.ok()) status = Status::from_errno(errno, path);
    };
    const int other = (comm->rank() + 1) % comm->size();
    const std::vector<std::byte> data(static_cast<size_t>(std::min(file_bytes_, buffer_bytes)), std::byte{0x2a});
    const auto timed = [&](int operation, auto call) {
      const double start = now();
      const auto result = call();
      seconds[static_cast<size_t>(operation)] += now() - start;
      return result;
    };
    PENSTOCK_TRY(comm->barrier());
    each_file(comm, pattern, comm->rank(), [&](const std::string& path) {
      const int file = timed(create, [&] {
        const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (made < 0 || fill_file(made, data, file_bytes_)) return made;
        const int error = errno;
        ::close(made);
        errno = error;
        return -1;
      });
      if (file < 0 || timed(close, [&] { return ::close(file); }) != 0) fails(path);
    });
    PENSTOCK_TRY(comm->barrier());
    each_file(comm, pattern, other, [&](const std::string& path) {
      const FileDescriptor file(timed(open, [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
      if (file.get() < 0) fails(path);
    });
    PENSTOCK_TRY(comm->barrier());
    each_file(comm, pattern, other, [&](const std::string& path) {
      struct stat about{};
      if (timed(stat, [&] { return ::stat(path.c_str(), &about); }) != 0)
        fails(path);
      else if (about.st_size != file_bytes_ && status.ok())
        status = Status(Code::damaged, fmt::format("{} has {} bytes, not {}", path, about.st_size, file_bytes_));
    });
    PENSTOCK_TRY(comm->barrier());
    each_file(comm, pattern, comm->rank(), [&](const std::string& path) {
      if (timed(remove, [&] { return ::unlink(path.c_str()); }) != 0) fails(path);
    });
    PENSTOCK_TRY(comm->barrier());
    return status;
  }

  Status make_folders(int ranks, bool many) const {
    std::error_code error;
    fs::remove_all(folder_ + "/files", error);
    fs::create_directories(folder_ + "/files", error);
    for (int rank = 0; rank < ranks && many && !error; ++rank)
      fs::create_directory(fmt::format("{}/files/{}", folder_, rank), error);
    return error ? Status::from_errno(error.value(), folder_ + "/files") : Status();
  }

  // Verifies that nothing is left.
  Status remove_folders(const Status& so_far) const {
    std::error_code error;
    int64_t left = 0;
    for (fs::recursive_directory_iterator entry(folder_ + "/files", error), end; !error && entry != end;
         entry.increment(error))
      left += entry->is_regular_file(error);
    fs::remove_all(folder_ + "/files", error);
    if (!so_far.ok() || left == 0) return so_far;
    return Status(Code::damaged, fmt::format("{} files are there after all were removed", left));
  }

  Status take_set(const Communicator& comm, const Method& method, int repetition, TimedRun& run) {
    const std::string folder = folder_ + "/set", copy = folder_ + "/copy", archive = folder_ + "/set.tar";
    TimedCase& one = case_of(run, "sets of files");
    PENSTOCK_TRY(from_root(comm, comm->rank() == 0 ? make_folder(folder) : Status()));
    Status status = agree(comm, write_set(comm, method, folder + "/data." + method.extension, repetition));
    std::array<double, 4> seconds{};
    Set set;
    if (comm->rank() == 0 && status.ok()) status = handle(folder, copy, archive, seconds, set);
    if (comm->rank() == 0 && !status.ok()) remove_all({folder, copy, archive});
    status = from_root(comm, status);
    for (size_t i = 0; i < handled_by.size(); ++i) {
      TimedOperation& operation = one.find(method.label, handled_by[i]);
      if (!status.ok()) operation.error = status;
      if (!status.ok() || comm->rank() != 0) continue;
      operation.more = {{"file_bytes", set.bytes},
                        {"allocated_bytes", set.allocated},
                        {"wasted_bytes", set.allocated - set.bytes},
                        {"inodes", set.inodes}};
      if (repetition == 0)
        operation.warmup = {seconds[i]};
      else
        operation.rank_seconds.push_back({seconds[i]});
    }
    return {};
  }

  static void remove_all(const std::vector<std::string>& paths) {
    std::error_code ignored;
    for (const std::string& path : paths) fs::remove_all(path, ignored);
  }

  static Status make_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directory(folder, error);
    return error ? Status::from_errno(error.value(), folder) : Status();
  }

  Status write_set(const Communicator& comm, const Method& method, const std::string& path, int repetition) const {
    PENSTOCK_ASSIGN(Decomposition part, workload_->part(0, comm->rank(), comm->size()));
    std::vector<std::byte> data(static_cast<size_t>(part.elements() * bytes(workload_->fields()[0].type)));
    Pieces pieces{{0, std::move(part), 0, data}};
    fill_piece({workload_.get(), seed_, repetition}, pieces[0]);
    return timed_write(comm, {path, method.plan, workload_.get()}, pieces, false).status();
  }

  // By the system's own commands, for which a user waits.
  static Status handle(const std::string& folder, const std::string& copy, const std::string& archive,
                       std::array<double, 4>& seconds, Set& set) {
    PENSTOCK_ASSIGN(set, measure_set(folder));
    const std::array<std::vector<std::string>, 4> commands = {{{"ls", "-lR", folder},
                                                               {"cp", "-a", folder, copy},
                                                               {"tar", "-cf", archive, "-C", folder, "."},
                                                               {"rm", "-r", folder}}};
    for (size_t i = 0; i < commands.size(); ++i) {
      const double start = now();
      PENSTOCK_TRY(command(commands[i]));
      seconds[i] = now() - start;
    }
    PENSTOCK_ASSIGN(const Set copied, measure_set(copy));
    struct stat packed{};
    if (::stat(archive.c_str(), &packed) != 0) return Status::from_errno(errno, archive);
    remove_all({copy, archive});
    std::error_code error;
    if (copied.bytes != set.bytes || copied.inodes != set.inodes || packed.st_size < set.bytes ||
        fs::exists(folder, error))
      return Status(Code::damaged, fmt::format("the copy or the archive of {} is not whole", folder));
    return {};
  }

  // It exists.
  static TimedCase& case_of(TimedRun& run, const std::string& name) {
    return *std::ranges::find(run.cases, name, &TimedCase::name);
  }

  std::vector<int64_t> files_ = {1, 10, 100, 1000};
  std::vector<std::string> folders_ = {"one", "many"};
  std::string file_bytes_text_ = "0", methods_text_, per_rank_text_ = "1MiB";
  int64_t file_bytes_ = 0;
  std::string folder_;
  uint64_t seed_ = 1;
  std::vector<Pattern> patterns_;
  std::vector<Method> methods_;
  std::unique_ptr<Workload> workload_;
};

}  // namespace

std::unique_ptr<Program> make_metadata() { return std::make_unique<Metadata>(); }

}  // namespace penstock::bench
