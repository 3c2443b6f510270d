// replay: plays another program's access pattern before and after a remedy, alternately.
#include <fcntl.h>
#include <fmt/format.h>
#include <penstock/config.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "bench/measure/timed.hpp"
#include "bench/program/program.hpp"
#include "bench/replay/pattern.hpp"
#include "bench/replay/player.hpp"
#include "bench/shared_status.hpp"
#include "bench/verify/truth.hpp"
#include "core/base/file_descriptor.hpp"

namespace penstock::bench {

namespace {

namespace fs = std::filesystem;

constexpr std::array moved_names = {"read_bytes", "written_bytes", "reads", "writes"};
using Moved = std::array<int64_t, moved_names.size()>;

// The bytes that the kernel has moved for this process, through any library; zeros if it does not report them.
Moved moved_by_kernel() {
  std::ifstream file("/proc/self/io");
  Moved moved{};
  std::string key;
  for (int64_t& value : moved)
    if (!(file >> key >> value)) return {};
  return moved;
}

class Replay : public Program {
 public:
  void declare(CLI::App& app) override {
    app.add_option("PATTERN", path_, "a file of schema penstock.pattern/1, as penstock doctor --replay makes them")
        ->required();
  }

  Status prepare(const Communicator& comm, const std::string& folder, const RunWords&) override {
    folder_ = folder;
    PENSTOCK_ASSIGN(cases_, read_pattern(comm, path_));
    for (size_t i = 0; i < cases_.size(); ++i)
      for (size_t j = 0; j < cases_[i].variants.size(); ++j) places_.emplace_back(i, j);
#if !PENSTOCK_HAVE_MPI
    for (const PatternCase& one : cases_)
      for (const Variant& variant : one.variants)
        if (variant.interface == Interface::mpiio)
          return Status(Code::unsupported, fmt::format("{}: MPI-IO needs a build with MPI", variant.name));
#endif
    return {};
  }

  std::vector<std::string> turns() const override {
    std::vector<std::string> names;
    for (const auto& [i, j] : places_)
      names.push_back(fmt::format("{}, {}", cases_[i].name, cases_[i].variants[j].name));
    return names;
  }

  std::vector<TimedCase> cases() const override {
    std::vector<TimedCase> made;
    for (const PatternCase& one : cases_) {
      made.push_back(
          {.name = one.name, .workload = {{"name", "replay"}}, .baseline = one.variants[0].name, .operations = {}});
      for (const Variant& variant : one.variants) made.back().find(variant.name, "replay");
    }
    return made;
  }

  Status take(const Communicator& comm, size_t turn, int repetition, TimedRun& run) override {
    const auto [i, j] = places_[turn];
    const Variant& variant = cases_[i].variants[j];
    const std::string folder = fmt::format("{}/{}", folder_, turn);
    TimedOperation& operation = run.cases[i].find(variant.name, "replay");
    int64_t touched = variant.writes();
    PENSTOCK_TRY(comm->all_reduce_max(std::span(&touched, 1)));
    double seconds = 0;
    Moved moved{};
    Status status;
    if (touched != 0 || repetition == 0) status = agree(comm, set_up(comm, variant, folder));
    if (status.ok()) status = agree(comm, play(comm, variant, folder, seconds, moved));
    PENSTOCK_TRY(comm->all_reduce_sum(moved));
    if (!status.ok()) {
      operation.error = status;
      return {};
    }
    for (size_t k = 0; k < moved.size(); ++k) operation.more[moved_names[k]] = moved[k];
    return record(comm, repetition, seconds, operation);
  }

 private:
  // Creates an empty folder, and the files to read.
  static Status set_up(const Communicator& comm, const Variant& variant, const std::string& folder) {
    PENSTOCK_TRY(from_root(comm, comm->rank() == 0 ? make_folder(folder, variant) : Status()));
    Status status;
    std::vector<std::byte> content;
    for (const Step& step : variant.steps) {
      if (step.act != Act::read || !status.ok()) continue;
      content.resize(static_cast<size_t>(step.length));
      fill_content(step.offset, content);
      status = write_at(file_path(folder, step.file), step.offset, content);
    }
    return status;
  }

  // Creates files that are examined or opened, as the program found them.
  static Status make_folder(const std::string& folder, const Variant& variant) {
    std::error_code error;
    fs::remove_all(folder, error);
    if (!error) fs::create_directory(folder, error);
    if (error) return Status::from_errno(error.value(), folder);
    for (int file = 0; file < variant.files; ++file) PENSTOCK_TRY(write_at(file_path(folder, file), 0, {}));
    return {};
  }

  static Status write_at(const std::string& path, int64_t offset, std::span<const std::byte> bytes) {
    const FileDescriptor file(retrying([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600); }));
    if (file.get() < 0) return Status::from_errno(errno, path);
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t count = retrying(
          [&] { return ::pwrite(file.get(), &bytes[done], bytes.size() - done, offset + static_cast<off_t>(done)); });
      if (count < 0) return Status::from_errno(errno, path);
      done += static_cast<size_t>(count);
    }
    return {};
  }

  Status play(const Communicator& comm, const Variant& variant, const std::string& folder, double& seconds,
              Moved& moved) {
    data_.resize(static_cast<size_t>(variant.bytes()));
    each_part(variant, [&](const Step& step, std::span<std::byte> part) {
      if (step.act == Act::write)
        fill_content(step.offset, part);
      else
        std::fill(part.begin(), part.end(), std::byte{0});
    });
    const std::unique_ptr<Player> player = make_player(comm, variant, folder);
    PENSTOCK_TRY(comm->barrier());
    const Moved earlier = moved_by_kernel(), before = moved_by_kernel();
    const double start = now();
    Status status = agree(comm, player->open());
    if (status.ok()) status = player->play(data_);
    const Status closed = player->close();
    seconds = now() - start;
    moved = difference(difference(earlier, before), difference(before, moved_by_kernel()));  // looking moves bytes too
    PENSTOCK_TRY(comm->barrier());
    PENSTOCK_TRY(agree(comm, status.ok() ? closed : status));
    return check(variant, folder);
  }

  std::unique_ptr<Player> make_player(const Communicator& comm, const Variant& variant,
                                      const std::string& folder) const {
#if PENSTOCK_HAVE_MPI
    if (variant.interface == Interface::mpiio) return play_mpiio(comm, variant, folder);
#endif
    return play_posix(comm, variant, folder);
  }

  static Moved difference(const Moved& from, const Moved& to) {
    Moved made{};
    for (size_t i = 0; i < made.size(); ++i) made[i] = std::max<int64_t>(0, to[i] - from[i]);
    return made;
  }

  template <typename Visit>
  void each_part(const Variant& variant, Visit visit) {
    size_t at = 0;
    for (const Step& step : variant.steps) {
      if (step.act != Act::write && step.act != Act::read) continue;
      visit(step, std::span(data_).subspan(at, static_cast<size_t>(step.length)));
      at += static_cast<size_t>(step.length);
    }
  }

  // Verifies data that was read, and the present contents of the files.
  Status check(const Variant& variant, const std::string& folder) {
    Status status;
    int open = -1;
    FileDescriptor file;
    each_part(variant, [&](const Step& step, std::span<std::byte> part) {
      if (!status.ok()) return;
      const std::string path = file_path(folder, step.file);
      if (step.act == Act::write) {
        if (open != step.file) file = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        open = step.file;
        std::fill(part.begin(), part.end(), std::byte{0});
        for (size_t done = 0; done < part.size();) {
          const ssize_t count = retrying([&] {
            return ::pread(file.get(), &part[done], part.size() - done, step.offset + static_cast<off_t>(done));
          });
          if (count <= 0) break;
          done += static_cast<size_t>(count);
        }
      }
      if (const int64_t wrong = first_wrong(step.offset, part); wrong >= 0)
        status = Status(Code::damaged, fmt::format("{}: byte {} is not what was written", path, step.offset + wrong));
    });
    return status;
  }

  std::string path_, folder_;
  std::vector<PatternCase> cases_;
  std::vector<std::pair<size_t, size_t>> places_;  // of turns: case and variant
  std::vector<std::byte> data_;
};

}  // namespace

std::unique_ptr<Program> make_replay() { return std::make_unique<Replay>(); }

}  // namespace penstock::bench
