// durable: when a commit returns, its files and their names are on the disk, and were before anything said so.
//
// Calls of the C library are noted in its place, also those that MPI and HDF5 make; nothing is really synced.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <utility>

#include <penstock/series.hpp>
#include <penstock/stream.hpp>

#include "core/base/encode.hpp"
#include "core/engine/engine.hpp"
#include "core/transport/transport.hpp"
#include "tests/mpi/sets.hpp"

namespace penstock::test {

namespace {

enum class Act { write, sync, name };

struct Event {
  int64_t at = 0;  // by a clock that all ranks have
  Act act = Act::write;
  std::string file, name;  // that FILE got
};

std::mutex mutex;
std::vector<Event>& noted() {
  static auto& list = *new std::vector<Event>;
  return list;
}

void note(Act act, std::string file, std::string name = {}) {
  const std::lock_guard lock(mutex);
  noted().push_back(
      {std::chrono::steady_clock::now().time_since_epoch().count(), act, std::move(file), std::move(name)});
}

void note(Act act, int fd) {
  std::error_code unknown;
  note(act, fs::read_symlink(fmt::format("/proc/self/fd/{}", fd), unknown).string());
}

std::string folder_of(World& world) { return fs::canonical(world.folder()); }

void forget(World& world) {
  CHECK_OK(world.comm()->barrier(), "barrier");
  const std::lock_guard lock(mutex);
  noted().clear();
}

// What all ranks did in the test's folder since they forgot, in order; on rank 0 only.
std::vector<Event> gather(World& world) {
  Encoder mine;
  {
    const std::string folder = folder_of(world);
    const std::lock_guard lock(mutex);
    for (const Event& one : noted()) {
      if (!one.file.starts_with(folder)) continue;
      mine.value(one.at);
      mine.value(one.act);
      mine.text(one.file);
      mine.text(one.name);
    }
  }
  const auto all = world.comm()->gather(mine.take(), 0);
  std::vector<Event> list;
  if (!CHECK_OK(all.status(), "gather")) return list;
  for (const auto& of_rank : *all)
    for (Decoder in(of_rank); !in.done();) {
      Event& one = list.emplace_back();
      one.at = in.value<int64_t>();
      one.act = in.value<Act>();
      one.file = in.text();
      one.name = in.text();
    }
  std::ranges::sort(list, {}, &Event::at);
  return list;
}

bool synced(const std::vector<Event>& list, const std::string& file, int64_t after, int64_t before) {
  return std::ranges::any_of(list, [&](const Event& one) {
    return one.act == Act::sync && one.file == file && one.at > after && one.at < before;
  });
}

// Before PATH got its name, the bytes of all files were synced, and the names of those that are not the file itself;
// afterwards its own name was. WRITES: it has just been written.
void check_order(const std::vector<Event>& list, const std::string& path, bool writes) {
  const std::string folder = fs::path(path).parent_path();
  const auto naming = std::ranges::find_if(list, [&](const Event& e) { return e.act == Act::name && e.name == path; });
  if (!CHECK(naming != list.end(), path + " never got its name")) return;
  std::map<std::string, int64_t> last_write;
  int64_t last_name = 0;
  for (auto event = list.begin(); event != naming; ++event) {
    if (event->act == Act::write) last_write[event->file] = event->at;
    if (event->act == Act::name) last_name = event->at;
  }
  CHECK(!writes || !last_write.empty(), "no call that writes was seen");
  for (const auto& [file, at] : last_write)
    CHECK(synced(list, file, at, naming->at),
          file + " was not synced after its last byte and before " + path + " was there");
  last_write.erase(naming->file);
  if (!last_write.empty() || last_name > 0)
    CHECK(synced(list, folder, last_name, naming->at), "other names were not synced before " + path + " was there");
  CHECK(synced(list, folder, naming->at, INT64_MAX), "the name of " + path + " was not synced");
}

// The same of what was done since all forgot; without DURABLE nothing is synced.
void check_durable(World& world, const std::string& path, bool durable = true, bool writes = true) {
  const auto list = gather(world);
  if (world.rank() > 0) return;
  if (durable) return check_order(list, folder_of(world) + "/" + fs::path(path).filename().string(), writes);
  for (const Event& one : list) CHECK(one.act != Act::sync, one.file + " was synced all the same");
}

std::vector<std::string> plans() {
  std::vector<std::string> list = {"hdf5/independent",
                                   "hdf5/independent:io=direct",
                                   "hdf5/two_phase",
                                   "hdf5/two_phase:io=direct,writers=2,buffer_bytes=4096",
                                   "hdf5/two_phase:checksums=none",
                                   "netcdf/two_phase",
                                   "raw/two_phase",
                                   "raw/two_phase:placement=parts,parts=3,parity=1",
                                   "raw/independent:placement=rank_order",
                                   "hdf5/two_phase:placement=parts,parts=2",
                                   "hdf5/independent:placement=per_rank"};
  if (find_transport("mpiio")->describe().missing.empty())
    list.insert(list.end(), {"hdf5/mpiio", "raw/mpiio:placement=parts,parts=2"});
  for (const char* engine : {"phdf5", "netcdf4", "pnetcdf"})
    if (find_engine(engine)->describe().missing.empty()) list.emplace_back(engine);
  return list;
}

void files(World& world) {
  for (const std::string& plan : plans())
    for (const bool durable : {true, false}) {
      if (!durable && plan == "netcdf4") continue;  // its library syncs when it closes
      const std::string more = plan.find(':') == std::string::npos ? ":durability=none" : ",durability=none";
      const std::string whole = durable ? plan : plan + more;
      const std::string path = world.folder() + "/file";
      about(whole);
      for (const uint64_t seed : {1, 3}) {  // the second replaces the first
        forget(world);
        CHECK_OK(write(world, path, whole, seed), "write");
        check_durable(world, plan.starts_with("raw") ? path + ".json" : path, durable);
      }
      remove_all(world);
    }
}

void restart_files(World& world) {
  for (const std::string plan : {"hdf5/two_phase", "raw/two_phase:placement=parts,parts=2"})
    for (const bool committed : {false, true}) {
      about(fmt::format("restart files by {}{}", plan, committed ? ", committed before" : ""));
      const std::string end = plan.starts_with("raw") ? ".raw" : ".h5";
      for (const uint64_t seed : {1, 3, 5}) {
        forget(world);
        auto file = File::create(world.comm(), world.folder() + "/new" + end, plan);
        if (!CHECK_OK(file.status(), "create")) return;
        CHECK_OK(put(*file, "fluid/rho", f64, rows(world), seed), "put");
        if (committed) {
          CHECK_OK(file->commit(), "commit");
          forget(world);
        }
        CHECK_OK(file->close_restart(world.folder() + "/restart#" + end, 2), "close_restart");
        check_durable(world, file->path(), true, !committed);
      }
      remove_all(world);
    }
}

void steps(World& world) {
  about("a step of a series");
  auto series = Series::create(world.comm(), world.folder() + "/out-*.h5", "hdf5/two_phase", "keep_last=1");
  if (!CHECK_OK(series.status(), "create")) return;
  for (const int64_t iteration : {1, 2}) {
    forget(world);
    auto file = series->step(iteration, 0.5);
    if (!CHECK_OK(file.status(), "step")) return;
    CHECK_OK(put(*file, "fluid/rho", f64, rows(world), 1), "put");
    CHECK_OK(file->close(), "close");
    check_durable(world, file->path());
    check_durable(world, world.folder() + "/out.series.json");
  }
  remove_all(world);
}

void streams(World& world) {
  for (const bool durable : {true, false})
    for (const char* options : {"files=1", "files=3", "files=2,io=direct,buffer_bytes=0"}) {
      const std::string whole = fmt::format("{}{}", options, durable ? "" : ",durability=none");
      about(fmt::format("streams, {}", whole));
      for (int round = 0; round < 2; ++round) {
        forget(world);
        auto stream = Stream::create(world.comm(), world.folder() + "/c.pstream", whole);
        if (!CHECK_OK(stream.status(), "create")) return;
        CHECK_OK(stream->write(std::vector(static_cast<size_t>(10'000 * (world.rank() + 1)), std::byte{7})), "write");
        CHECK_OK(stream->close(), "close");
        check_durable(world, "c.pstream", durable);
      }
      remove_all(world);
    }
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

}  // namespace penstock::test

using penstock::test::Act;
using penstock::test::next;
using penstock::test::note;

extern "C" {

int fsync(int fd) {
  note(Act::sync, fd);
  return 0;
}
int fdatasync(int fd) {
  note(Act::sync, fd);
  return 0;
}

ssize_t write(int fd, const void* from, size_t bytes) {
  static auto* const call = next<ssize_t(int, const void*, size_t)>("write");
  note(Act::write, fd);
  return call(fd, from, bytes);
}
ssize_t pwrite(int fd, const void* from, size_t bytes, off_t offset) {
  static auto* const call = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  note(Act::write, fd);
  return call(fd, from, bytes, offset);
}
ssize_t pwrite64(int fd, const void* from, size_t bytes, off64_t offset) { return pwrite(fd, from, bytes, offset); }
ssize_t pwritev(int fd, const iovec* list, int count, off_t offset) {
  static auto* const call = next<ssize_t(int, const iovec*, int, off_t)>("pwritev");
  note(Act::write, fd);
  return call(fd, list, count, offset);
}
ssize_t pwritev64(int fd, const iovec* list, int count, off64_t offset) { return pwritev(fd, list, count, offset); }

int rename(const char* from, const char* to) noexcept {
  static auto* const call = next<int(const char*, const char*)>("rename");
  note(Act::name, std::filesystem::weakly_canonical(from), std::filesystem::weakly_canonical(to));
  return call(from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned how) noexcept {
  static auto* const call = next<int(int, const char*, int, const char*, unsigned)>("renameat2");
  note(Act::name, std::filesystem::weakly_canonical(from), std::filesystem::weakly_canonical(to));
  return call(from_folder, from, to_folder, to, how);
}

}  // extern "C"

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  files(world);
  restart_files(world);
  steps(world);
  streams(world);
  return world.finish("durable");
}
