// servers: dedicated I/O processes fail: one is killed, its ranks are killed, there is no room for shared memory or
// scratch data. Every rank gets the same error in time, the old file stays, and no process or file is left over.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <penstock/file.hpp>
#include <penstock/timeout.hpp>

#include "tests/harness/slice.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

namespace fs = std::filesystem;
const ElementType f64{Kind::f64};
constexpr int64_t few = 3000, many = 6 << 20;  // elements; MANY is far more than the buffers hold
constexpr const char* small_buffers = "buffer_bytes=1MiB";

// The servers that process PARENT started.
std::vector<pid_t> servers_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    const auto end = stat.rfind(')');
    if (end == std::string::npos || stat.find("(penstock-server)") == std::string::npos || stat[end + 2] == 'Z')
      continue;
    if (std::atoi(stat.c_str() + end + 4) == parent) found.push_back(std::stoi(name));
  }
  return found;
}

bool gone_within(double seconds, const std::function<bool()>& gone) {
  for (const double deadline = now() + seconds; now() < deadline; ::usleep(10000))
    if (gone()) return true;
  return gone();
}

std::set<std::string> listing(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

// Squares are cut in two dimensions, so that ranks share the file's blocks.
Slice part_of(const Communicator& comm, int64_t elements) {
  const Dims shape{elements / 1000, 1000};
  return grid(shape, process_grid(comm->size(), 2, false), comm->rank());
}

// BEFORE is called when the data is there.
Status write(const Communicator& comm, const std::string& path, const std::string& plan, int64_t elements,
             uint64_t seed, const std::function<void()>& before = {}) {
  const Slice slice = part_of(comm, elements);
  const auto memory = filled(slice, f64, seed);
  if (before) before();
  auto file = File::create(comm, path, plan);
  if (!file) return file.status();
  CHECK_OK(file->lend("data", f64, slice.part, memory.data()), "lend");
  return file->close();
}

void check_file(const Communicator& comm, const std::string& path, const std::string& plan, int64_t elements,
                uint64_t seed) {
  auto file = File::open(comm, path, plan);
  if (!CHECK_OK(file.status(), "open")) return;
  const Slice slice = part_of(comm, elements);
  auto memory = blank(slice, f64);
  CHECK_OK(file->get("data", f64, slice.part, memory.data()), "get");
  if (!CHECK_OK(file->close(), "read")) return;
  int64_t wrong = 0;
  CHECK(differences(slice, f64, seed, memory, wrong) == 0, "the file has other values");
}

// The same code and words on all ranks.
void check_same(World& world, const Status& status) {
  std::vector<std::byte> words;
  const auto mine = std::as_bytes(std::span(status.message()));
  if (world.rank() == 0) words.assign(mine.begin(), mine.end());
  CHECK_OK(world.comm()->broadcast(words, 0), "compare");
  CHECK(std::equal(words.begin(), words.end(), mine.begin(), mine.end()), "ranks differ: " + status.message());
}

void killed_in_a_write(World& world, const std::string& options) {
  const std::string plan = fmt::format("hdf5/servers:{}{}", small_buffers, options);
  about("killed in a write: " + plan);
  const std::string path = world.folder() + "/killed.h5";
  const auto others = servers_of(::getpid());
  if (!CHECK_OK(write(world.comm(), path, plan, few, 1), "the old file")) return;
  const auto before = listing(world.folder());
  auto servers = servers_of(::getpid());
  std::erase_if(servers, [&](pid_t pid) { return std::find(others.begin(), others.end(), pid) != others.end(); });
  if (world.rank() == 0) CHECK(!servers.empty(), "no server was kept");
  for (const pid_t server : servers) ::kill(server, SIGSTOP);  // none of them finishes before it dies
  double start = 0;
  std::thread killer;
  const Status status = write(world.comm(), path, plan, many, 2, [&] {
    CHECK_OK(world.comm()->barrier(), "barrier");
    start = now();
    killer = std::thread([&] {
      ::usleep(1000000);
      if (!servers.empty()) ::kill(servers.front(), SIGKILL);
      for (size_t i = 1; i < servers.size(); ++i) ::kill(servers[i], SIGCONT);
    });
  });
  const double took = now() - start;
  killer.join();
  CHECK(status.code() == Code::io, fmt::format("is '{}': {}", name(status.code()), status.message()));
  CHECK(status.message().find("died") != std::string::npos, status.message());
  CHECK(took > 0.9, "failed before the server was killed");
  CHECK(took < 10, fmt::format("took {:.1f} s", took));
  check_same(world, status);
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0) CHECK(listing(world.folder()) == before, "files were left over");
  check_file(world.comm(), path, "", few, 1);
  check_file(world.comm(), path, plan, few, 1);
  CHECK_OK(write(world.comm(), path, plan, many, 3), "the next write");
  check_file(world.comm(), path, plan, many, 3);
}

// Whoever waits for a server that does not die ends too.
void stopped(World& world) {
  about("stopped");
  const std::string plan = fmt::format("hdf5/servers:{}", small_buffers), path = world.folder() + "/stopped.h5";
  constexpr double limit = 2;
  CHECK_OK(set_timeout(limit), "set_timeout");
  if (!CHECK_OK(write(world.comm(), path, plan, few, 1), "the old file")) return;
  const auto before = listing(world.folder());
  for (const pid_t server : servers_of(::getpid())) ::kill(server, SIGSTOP);
  CHECK_OK(world.comm()->barrier(), "barrier");
  const double start = now();
  const Status status = write(world.comm(), path, plan, many, 2);
  const double took = now() - start;
  CHECK(status.code() == Code::timeout && status.message().find("the I/O server on") != std::string::npos,
        fmt::format("is '{}': {}", name(status.code()), status.message()));
  CHECK(took > limit * 0.9 && took < limit + 10, fmt::format("took {:.1f} s", took));
  check_same(world, status);
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0) CHECK(listing(world.folder()) == before, "files were left over");
  CHECK_OK(set_timeout(600), "set_timeout");
  check_file(world.comm(), path, "", few, 1);
  CHECK_OK(write(world.comm(), path, plan, many, 3), "the next write");
  check_file(world.comm(), path, plan, many, 3);
}

void killed_between_writes(World& world) {
  about("killed between writes");
  const std::string plan = fmt::format("hdf5/servers:{}", small_buffers), path = world.folder() + "/between.h5";
  CHECK_OK(write(world.comm(), path, plan, few, 1), "first");
  for (const pid_t server : servers_of(::getpid())) ::kill(server, SIGKILL);
  CHECK(gone_within(10, [] { return servers_of(::getpid()).empty(); }), "a server outlived SIGKILL");
  CHECK_OK(world.comm()->barrier(), "barrier");
  CHECK_OK(write(world.comm(), path, plan, few, 2), "second");
  check_file(world.comm(), path, plan, few, 2);
}

// Writes, reads and files of one set of ranks share a server; it ends when a process forgets it.
void kept(World& world) {
  about("kept");
  const std::string plan = fmt::format("raw/servers:{}", small_buffers), path = world.folder() + "/kept.raw";
  CHECK_OK(write(world.comm(), path, plan, few, 1), "first");
  const auto first = servers_of(::getpid());
  CHECK_OK(write(world.comm(), path, plan, many, 2), "second");
  check_file(world.comm(), path, plan, many, 2);
  CHECK(first == servers_of(::getpid()), "another server was started");
}

// A process dies in a write: what it does with MPI is the launcher's affair, so it is one without.
void killed_rank(World& world) {
  about("killed rank");
  const std::string path = world.folder() + "/rank.h5";
  const pid_t writer = ::fork();
  if (writer == 0) {
    const std::string plan = fmt::format("hdf5/servers:{}", small_buffers);
    if (!write(serial_communicator(), path, plan, few, 1).ok()) ::_exit(1);
    while (true) (void)write(serial_communicator(), path, plan, many, 2);
  }
  CHECK(gone_within(20, [&] { return fs::exists(path) && !servers_of(writer).empty(); }), "the writer did not begin");
  const auto servers = servers_of(writer);
  ::usleep(100000);
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
  for (const pid_t server : servers)
    CHECK(gone_within(10, [&] { return ::kill(server, 0) != 0 || !fs::exists(fmt::format("/proc/{}/exe", server)); }),
          "the server outlived its rank");
}

void no_program(World& world) {
  about("no program");
  ::setenv("PENSTOCK_SERVER", "/nowhere/penstock-server", 1);
  const std::string path = world.folder() + "/program.h5";
  Status status = write(world.comm(), path, "hdf5/servers:buffer_bytes=3MiB", few, 1);
  CHECK(status.code() == Code::not_found && status.message().find("/nowhere/penstock-server") != std::string::npos,
        status.message());
  check_same(world, status);
  ::setenv("PENSTOCK_SERVER", "/bin/true", 1);  // begins, and ends at once
  status = write(world.comm(), path, "hdf5/servers:buffer_bytes=3MiB", few, 1);
  CHECK(status.code() == Code::io, fmt::format("is '{}': {}", name(status.code()), status.message()));
  check_same(world, status);
  ::unsetenv("PENSTOCK_SERVER");
  CHECK(!fs::exists(path), "there is a file");
}

// Each rank gets a /dev/shm of its own with BYTES; false where the machine does not let us.
bool small_shared_memory(World& world, const char* bytes) {
  const std::string options = fmt::format("size={}", bytes);
  int64_t refused = ::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
                    ::mount("tmpfs", "/dev/shm", "tmpfs", 0, options.c_str()) != 0;
  CHECK_OK(world.comm()->all_reduce_max(std::span(&refused, 1)), "compare");
  return refused == 0;
}

void no_shared_memory(World& world) {
  if (!small_shared_memory(world, "2m")) return say("not checked: a small /dev/shm needs root");
  about("little shared memory");
  const std::string plan = "hdf5/servers:buffer_bytes=64MiB", path = world.folder() + "/memory.h5";
  CHECK_OK(write(world.comm(), path, plan, many, 1), "write");
  check_file(world.comm(), path, plan, many, 1);
  about("no shared memory");
  (void)small_shared_memory(world, "16k");
  const Status status = write(world.comm(), path, "hdf5/servers:buffer_bytes=65MiB", few, 2);
  CHECK(status.code() == Code::memory && status.message().find("/dev/shm") != std::string::npos,
        fmt::format("is '{}': {}", name(status.code()), status.message()));
  check_same(world, status);
  check_file(world.comm(), path, "", many, 1);
  (void)::umount("/dev/shm");
  (void)::umount("/dev/shm");  // MPI wants to tidy up in the machine's
}

void scratch(World& world) {
  const char* disk = std::getenv("PENSTOCK_SMALL_DISK");
  if (disk == nullptr) return say("not checked: scratch needs PENSTOCK_SMALL_DISK");
  about("scratch");
  const std::string plan = fmt::format("hdf5/servers:{},scratch={}", small_buffers, disk);
  const std::string path = world.folder() + "/scratch.h5";
  CHECK_OK(write(world.comm(), path, plan, 1 << 20, 1), "write");
  check_file(world.comm(), path, plan, 1 << 20, 1);
  const auto refused = [&](const std::string& target, const std::string& with, const char* named) {
    const Status status = write(world.comm(), target, with, many, 2);
    CHECK(status.code() == Code::no_space && status.message().find(named) != std::string::npos,
          fmt::format("is '{}': {}", name(status.code()), status.message()));
    check_same(world, status);
  };
  refused(path, plan, "scratch folder");
  check_file(world.comm(), path, "", 1 << 20, 1);
  refused(fmt::format("{}/target.h5", disk), fmt::format("hdf5/servers:preallocate=false,scratch={}", world.folder()),
          "target folder");
  const Status status = write(world.comm(), path, "hdf5/servers:scratch=/nowhere", few, 3);
  CHECK(status.code() == Code::not_found && status.message().find("/nowhere") != std::string::npos, status.message());
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0) CHECK(listing(disk).empty(), "scratch files were left over");
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  killed_in_a_write(world, "");
  killed_in_a_write(world, ",per_node=2");
  killed_in_a_write(world, ",per_node=2,assignment=any");
  stopped(world);
  killed_between_writes(world);
  kept(world);
  if (world.size() == 1) killed_rank(world);
  no_program(world);
  scratch(world);
  no_shared_memory(world);
  about("");
  return world.finish("servers");
}
