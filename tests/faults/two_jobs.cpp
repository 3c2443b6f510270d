// two_jobs: two programs write one target, interleaved on purpose, by every method: the first to commit wins, all ranks
// of the other get an error, and nothing of it is left. By itself (--other, --leave) it is the second, on one rank.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <penstock/file.hpp>
#include <penstock/stream.hpp>

#include "tests/conformance/method.hpp"
#include "tests/harness/slice.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

namespace fs = std::filesystem;
const ElementType f64{Kind::f64};
constexpr int64_t elements = 3000;

std::set<std::string> listing(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

Result<File> begin(const Communicator& comm, const std::string& path, const std::string& plan, uint64_t seed) {
  PENSTOCK_ASSIGN(File file, File::create(comm, path, plan));
  const Slice slice = grid({elements}, {comm->size()}, comm->rank());
  const auto memory = filled(slice, f64, seed);
  PENSTOCK_TRY(file.put("data", f64, slice.part, memory.data()));
  return file;
}

int fail(const Status& status) {
  if (!status.ok()) fmt::print(stderr, "the other program: {}\n", status.message());
  return status.ok() ? 0 : 1;
}

// The second program: writes PATH, a file of PLAN or (with --stream) a container.
int other(const std::string& what, const std::string& path, const std::string& plan) {
  if (what == "--stream") {
    auto stream = Stream::create(serial_communicator(), path);
    if (!stream) return fail(stream.status());
    const Status written = stream->write(std::as_bytes(std::span("theirs")));
    return fail(written.ok() ? stream->close() : written);
  }
  auto file = begin(serial_communicator(), path, plan, 2);
  if (!file) return fail(file.status());
  if (what == "--other") return fail(file->close());
  if (const Status status = file->commit_start(); !status.ok()) return fail(status);
  return ::raise(SIGKILL);  // --leave: in the middle of a commit
}

// On rank 0 a program of its own, which must succeed; the others wait for it.
void run_other(World& world, const std::string& what, const std::string& path, const std::string& plan) {
  if (world.rank() == 0) {
    std::string program = fs::read_symlink("/proc/self/exe"), first = what, second = path, third = plan;
    std::array<char*, 5> words{program.data(), first.data(), second.data(), third.data(), nullptr};
    pid_t child = -1;
    int status = -1;
    CHECK(::posix_spawn(&child, program.c_str(), nullptr, nullptr, words.data(), environ) == 0,
          "starting another program");
    CHECK(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "the other program failed");
  }
  CHECK_OK(world.comm()->barrier(), "barrier");
}

void check_values(World& world, const std::string& path, uint64_t seed) {
  auto file = File::open(world.comm(), path);
  if (!CHECK_OK(file.status(), "open")) return;
  const Slice slice = replicated({elements});
  auto memory = blank(slice, f64);
  CHECK_OK(file->get("data", f64, slice.part, memory.data()), "get");
  if (!CHECK_OK(file->close(), "read")) return;
  int64_t wrong = 0;
  CHECK(differences(slice, f64, seed, memory, wrong) == 0, "the file has other values");
}

void check_lost(World& world, const Status& status, const std::set<std::string>& before) {
  CHECK(status.code() == Code::exists, fmt::format("is '{}': {}", name(status.code()), status.message()));
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0) CHECK(listing(world.folder()) == before, "the loser left something, or took something away");
  CHECK_OK(world.comm()->barrier(), "barrier");
}

void sweep(World& world) {
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0)
    for (const std::string& entry : listing(world.folder())) fs::remove_all(world.folder() + "/" + entry);
  CHECK_OK(world.comm()->barrier(), "barrier");
}

// What the second program can write without MPI under the same name.
std::string serial_plan(const Method& method) {
  const bool set =
      method.plan.find("placement=") != std::string::npos || method.plan.find("layout=chunks") != std::string::npos;
  const std::string placement = set ? ":placement=per_rank" : "";
  if (method.extension == ".h5" || method.extension == ".nc4") return "hdf5/independent" + placement;
  if (method.extension == ".nc") return "netcdf/independent" + placement;
  return method.extension == ".raw" ? "raw/independent" : "";
}

void quarrel(World& world, const Method& method) {
  const std::string second = serial_plan(method);
  if (second.empty()) return;
  const std::string path = world.folder() + "/file" + method.extension;
  for (const bool there_before : {false, true}) {
    about(fmt::format("{}{}", method.plan, there_before ? ", over an old file" : ""));
    if (there_before) run_other(world, "--other", path, second);
    auto file = begin(world.comm(), path, method.plan, 1);
    if (!file && file.status().code() == Code::unsupported && method.may_refuse) return;
    if (!CHECK_OK(file.status(), "create")) return;
    run_other(world, "--other", path, second);
    const auto before = listing(world.folder());
    CHECK_OK(world.comm()->barrier(), "barrier");
    const Status status = file->close();
    if (status.code() == Code::unsupported && method.may_refuse) return sweep(world);
    check_lost(world, status, before);
    check_values(world, path, 2);
  }
  auto again = begin(world.comm(), path, method.plan, 3);
  if (CHECK_OK(again.status(), "create again")) CHECK_OK(again->close(), "close");
  check_values(world, path, 3);
  sweep(world);
}

void quarrel_over_streams(World& world) {
  about("streams");
  const std::string path = world.folder() + "/streams";
  for (int round = 0; round < 2; ++round) {
    auto stream = Stream::create(world.comm(), path, "files=3");
    if (!CHECK_OK(stream.status(), "create")) return;
    CHECK_OK(stream->write(std::as_bytes(std::span("ours"))), "write");
    run_other(world, "--stream", path, "");
    CHECK(stream->close().code() == Code::exists, "the second stream was not refused");
    CHECK_OK(world.comm()->barrier(), "barrier");
    if (world.rank() == 0)
      CHECK(listing(world.folder()) == std::set<std::string>{"streams"}, "the loser left something");
    auto back = Stream::open(world.comm(), path);
    if (CHECK_OK(back.status(), "open")) CHECK(back->count() == 1, "not the other program's container");
  }
  sweep(world);
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  if (argc == 4) return other(argv[1], argv[2], argv[3]);
  World world(&argc, &argv);
  for (const Method& method : methods())
    if (method.base) quarrel(world, method);
  quarrel_over_streams(world);
  about("");
  return world.finish("two_jobs");
}
