// mpiio_traps: what MPI-IO libraries get wrong (docs/known-faults.md) does not come through: stale reads, overlapping
// reads, hints that are only echoed, ROMIO's single aggregator. Full disks are in tests/faults.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "core/comm/mpi/io_library.hpp"
#include "core/engine/engine.hpp"
#include "tests/harness/slice.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

const ElementType i32{Kind::i32};
constexpr int64_t rows = 64, columns = 64;  // of each rank

struct Way {
  std::string plan, reading, extension;
  bool engine = false;
  bool hints = false;
};

std::vector<Way> ways(const World& world) {
  std::vector<Way> list;
  for (const char* transport : {"two_phase", "independent", "servers"})
    list.push_back({fmt::format("hdf5/{}", transport), transport, ".h5"});
  const std::string hint = fmt::format("hint.cb_nodes={}", world.size());
  for (const char* more : {"", "synchronism=split,", "positioning=individual,"})
    list.push_back(
        {fmt::format("raw/mpiio:{}{}", more, hint), fmt::format("mpiio:{}{}", more, hint), ".raw", false, true});
  const std::pair<const char*, const char*> collective[] = {
      {"phdf5", "collective=true"}, {"netcdf4", "mode=collective"}, {"pnetcdf", "mode=collective"}};
  for (const auto& [engine, parameters] : collective) {
    if (!find_engine(engine)->describe().missing.empty()) {
      say(fmt::format("not built: {}", engine));
      continue;
    }
    const std::string plan = fmt::format("{}:{},{}", engine, parameters, hint);
    list.push_back({plan, plan, "." + std::string(find_engine(engine)->extension()), true, true});
  }
  return list;
}

Slice share(const World& world) { return grid({rows, columns * world.size()}, {1, world.size()}, world.rank()); }

bool write(World& world, Result<File>&& file, uint64_t seed) {
  if (!CHECK_OK(file.status(), "create")) return false;
  const Slice slice = share(world);
  const auto memory = filled(slice, i32, seed);
  CHECK_OK(file->lend("x", i32, slice.part, memory.data()), "lend");
  return CHECK_OK(file->close(), "write");
}

// This rank's own, or all of it: then all ranks read the same.
void read(World& world, const std::string& path, const std::string& plan, uint64_t seed, bool all) {
  auto file = File::open(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), "open")) return;
  const Slice slice =
      all ? block({rows, columns * world.size()}, {{0, 0}, {rows, columns * world.size()}}) : share(world);
  auto memory = blank(slice, i32);
  CHECK_OK(file->get("x", i32, slice.part, memory.data()), "get");
  if (!CHECK_OK(file->close(), "read")) return;
  int64_t wrong = 0;
  const int64_t n = differences(slice, i32, seed, memory, wrong);
  CHECK(n == 0, fmt::format("{} elements are wrong, the first is {}", n, wrong));
}

// What a program has just written it reads back, at once and in the same process.
void reads_are_fresh(World& world, const Way& way) {
  about("fresh: " + way.plan);
  const std::string path = world.folder() + "/fresh" + way.extension;
  for (uint64_t round = 1; round <= 5; ++round) {
    if (!write(world, File::create(world.comm(), path, way.plan), round)) return;
    read(world, path, way.reading, round, false);
    read(world, path, way.reading, round, true);
    if (way.engine) continue;
    if (!write(world, File::reopen(world.comm(), path, way.plan), round + 100)) return;
    read(world, path, way.reading, round + 100, false);
  }
}

// The warnings of writing and of reading with HINTS.
std::vector<std::string> warnings(World& world, const Way& way, const std::string& hints) {
  const std::string path = world.folder() + "/hints" + way.extension;
  const auto with = [&](const std::string& plan) { return plan.substr(0, plan.find("hint.")) + hints; };
  std::vector<std::string> list;
  const Slice slice = share(world);
  auto memory = filled(slice, i32, 1);
  auto file = File::create(world.comm(), path, with(way.plan));
  if (!CHECK_OK(file.status(), "create")) return list;
  CHECK_OK(file->lend("x", i32, slice.part, memory.data()), "lend");
  CHECK_OK(file->commit(), "write");
  list = file->report().warnings;
  CHECK_OK(file->close(), "close");
  file = File::open(world.comm(), path, with(way.reading));
  if (!CHECK_OK(file.status(), "open")) return list;
  CHECK_OK(file->get("x", i32, slice.part, memory.data()), "get");
  CHECK_OK(file->commit(), "read");
  const auto& more = file->report().warnings;
  list.insert(list.end(), more.begin(), more.end());
  CHECK_OK(file->close(), "close");
  return list;
}

// That writing and reading both warn of HINT, or that neither does.
void expect(World& world, const Way& way, const std::string& hints, const std::string& hint, bool warned,
            const std::string& words = "") {
  about(fmt::format("{} with {}", way.plan, hints));
  const auto list = warnings(world, way, hints);
  const auto count = std::count_if(list.begin(), list.end(), [&](const std::string& warning) {
    return warning.starts_with("hint " + hint + "=") && warning.find(words) != std::string::npos;
  });
  CHECK(count == (warned ? 2 : 0), fmt::format("{} warnings of {}: {}", count, hint, fmt::join(list, "; ")));
}

void hints_are_judged(World& world, const Way& way, IoLibrary library) {
  const bool ompio = library == IoLibrary::ompio;
  expect(world, way, "hint.no_such_hint=1", "no_such_hint", true);
  expect(world, way, "hint.cb_nodes=1", "cb_nodes", false);
  expect(world, way, "hint.cb_buffer_size=1048576", "cb_buffer_size", false);
  expect(world, way, "hint.collective_buffering=true", "collective_buffering", !ompio);
  expect(world, way, "hint.romio_cb_write=enable", "romio_cb_write", ompio);
  const std::string nodes = fmt::format("hint.cb_nodes={}", world.size());
  if (world.size() == 1) return;
  expect(world, way, nodes, "cb_nodes", !ompio, "cb_config_list=*:*");
  expect(world, way, nodes + ",hint.cb_config_list=*:*", "cb_nodes", false);
}

// Persistent file realms kill the program: refused by name on all ranks.
void fatal_hints_are_refused(World& world, const Way& way) {
  about("fatal hint: " + way.plan);
  const std::string path = world.folder() + "/fatal" + way.extension;
  auto file = File::create(world.comm(), path, way.plan.substr(0, way.plan.find("hint.")) + "hint.romio_cb_pfr=enable");
  if (!CHECK_OK(file.status(), "create")) return;
  const Slice slice = share(world);
  const auto memory = filled(slice, i32, 1);
  CHECK_OK(file->lend("x", i32, slice.part, memory.data()), "lend");
  const Status status = file->close();
  CHECK(status.code() == Code::unsupported && status.message().find("romio_cb_pfr") != std::string::npos,
        status.message());
}

// Methods without MPI-IO say so instead of keeping quiet.
void hints_are_refused(World& world, const Way& way) {
  about("hints: " + way.plan);
  const Status status =
      File::create(world.comm(), world.folder() + "/refused" + way.extension, way.plan + ":hint.cb_nodes=2").status();
  CHECK(!status.ok() && status.message().find("hint") != std::string::npos, status.message());
}

// By where this test was started, not by looking as the library does.
IoLibrary expected_library() {
#ifdef OPEN_MPI
  const char* chosen = std::getenv("OMPI_MCA_io");
  return chosen != nullptr && std::string_view(chosen) == "^ompio" ? IoLibrary::open_mpi_romio : IoLibrary::ompio;
#else
  return IoLibrary::romio;
#endif
}

void library_is_found(World& world) {
  about("library");
  const std::string path = world.folder() + "/found.raw";
  if (!write(world, File::create(world.comm(), path, "raw"), 1)) return;
  CHECK(io_library_of(world.comm(), path) == expected_library(), "another implementation of MPI-IO was found");
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  library_is_found(world);
  for (const Way& way : ways(world)) {
    reads_are_fresh(world, way);
    if (way.hints) fatal_hints_are_refused(world, way);
    if (way.hints)
      hints_are_judged(world, way, expected_library());
    else
      hints_are_refused(world, way);
  }
  about("");
  return world.finish("mpiio_traps");
}
