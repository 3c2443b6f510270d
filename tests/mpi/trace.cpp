// trace: what PENSTOCK_TRACE records of commits and reads by several methods, and if a folder is bad or a rank killed.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <penstock/config.h>
#include <nlohmann/json.hpp>
#include <penstock/file.hpp>

#include "core/trace/trace.hpp"
#include "tests/harness/slice.hpp"
#include "tests/harness/world.hpp"

extern "C" int plain_calls(const char* path);  // of plain_calls.c

namespace penstock::test {
namespace {

namespace fs = std::filesystem;
const ElementType f64{Kind::f64};

// What this process has written so far.
struct Written {
  nlohmann::json job;
  std::vector<nlohmann::json> steps;
  std::map<uint32_t, std::string> paths;
  std::vector<TracedCall> calls;

  int64_t bytes(Operation first, int modes) const {
    int64_t sum = 0;
    for (const TracedCall& call : calls) {
      const int mode = static_cast<int>(call.operation) - static_cast<int>(first);
      if (mode >= 0 && mode < modes) sum += call.length;
    }
    return sum;
  }
};

Written read_own(const std::string& folder) {
  Written w;
  std::string text;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.path().string().ends_with(fmt::format("-{}.trace", ::getpid()))) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  for (size_t at = 8; at + 16 <= text.size();) {
    uint64_t size = 0;
    std::memcpy(&size, text.data() + at + 8, sizeof size);
    const std::string_view kind = std::string_view(text).substr(at, 4),
                           payload = std::string_view(text).substr(at + 16, size);
    at += 16 + size;
    if (kind == "JOB ") w.job = nlohmann::json::parse(payload);
    if (kind == "STEP") w.steps.push_back(nlohmann::json::parse(payload));
    for (size_t from = 0; kind == "PATH" && from < payload.size();) {  // number, length, path
      uint32_t number = 0, length = 0;
      std::memcpy(&number, payload.data() + from, sizeof number);
      std::memcpy(&length, payload.data() + from + sizeof number, sizeof length);
      w.paths[number] = payload.substr(from + 2 * sizeof number, length);
      from += 2 * sizeof number + length;
    }
    if (kind == "CALL") {
      const size_t count = payload.size() / sizeof(TracedCall), before = w.calls.size();
      w.calls.resize(before + count);
      std::memcpy(w.calls.data() + before, payload.data(), count * sizeof(TracedCall));
    }
  }
  return w;
}

// Rank r has r rows, so rank 0 has none.
Slice rows(const World& world) {
  const int64_t r = world.rank(), n = world.size();
  return ragged(r * (r - 1) / 2, r, n * (n - 1) / 2, {512});
}

void write_and_read(World& world, const std::string& path, const std::string& plan) {
  const Slice whole = grid({40, 30 * world.size()}, {1, world.size()}, world.rank()), list = rows(world);
  auto file = File::create(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), "create")) return;
  const auto numbers = filled(whole, f64, 1), more = filled(list, f64, 2);
  CHECK_OK(file->put("columns", f64, whole.part, numbers.data(), whole.memory), "put");
  CHECK_OK(file->put("rows", f64, list.part, more.data(), list.memory), "put");
  CHECK_OK(file->close(), "close");
  auto back = File::open(world.comm(), path, plan);
  if (!CHECK_OK(back.status(), "open")) return;
  auto memory = blank(whole, f64);
  CHECK_OK(back->get("columns", f64, whole.part, memory.data(), whole.memory), "get");
  CHECK_OK(back->close(), "close");
  int64_t wrong = 0;
  CHECK(differences(whole, f64, 1, memory, wrong) == 0, "what is read");
}

int64_t sum(const World& world, int64_t value) {
  CHECK_OK(world.comm()->all_reduce_sum({&value, 1}), "sum");
  return value;
}

// Each plan, and whether its data goes through MPI-IO.
void every_way(World& world, const std::string& folder) {
  std::vector<std::pair<std::string, bool>> plans = {{"hdf5/two_phase:writers=1", false}, {"raw/independent", false}};
  if (PENSTOCK_HAVE_MPI)
    plans.insert(plans.end(), {{"hdf5/mpiio", true}, {"hdf5/mpiio:synchronism=split", true}, {"phdf5", true}});
  Written before;
  const int64_t n = world.size(), data = (int64_t{40} * 30 * n + n * (n - 1) / 2 * 512) * 8;
  for (const auto& [plan, by_mpi] : plans) {
    about(plan);
    write_and_read(world, fmt::format("{}/{}", world.folder(), plan.starts_with("raw") ? "f.json" : "f.h5"), plan);
    Trace::current()->flush();
    Written now = read_own(folder);
    if (!CHECK(now.steps.size() == before.steps.size() + 2, "a commit and a read")) return;
    const nlohmann::json &write = now.steps[now.steps.size() - 2], &read = now.steps.back();
    CHECK(now.job["rank"] == world.rank() && now.job["ranks"] == world.size(), "who it is");
    CHECK(write["operation"] == "write" && read["operation"] == "read", "operations");
    CHECK(write["plan"].get<std::string>().starts_with(plan.substr(0, plan.find(':'))), "plan");
    CHECK(write["end"].get<int64_t>() > write["start"].get<int64_t>(), "times");
    CHECK(write["datasets"] == nlohmann::json({"columns", "rows"}), "datasets");
    CHECK(write["error"] == "", "no error");
    const auto written = [&](Operation first, int modes) {
      return sum(world, now.bytes(first, modes) - before.bytes(first, modes));
    };
    CHECK(written(Operation::write, 1) >= data, "bytes of the file system");
    const int64_t by_mpi_bytes = written(Operation::mpi_write, 4);
    CHECK(by_mpi ? by_mpi_bytes >= data : by_mpi_bytes == 0, fmt::format("{} bytes of MPI-IO", by_mpi_bytes));
    CHECK(std::ranges::all_of(now.calls, [](const TracedCall& c) { return c.start >= 0 && c.nanoseconds >= 0; }),
          "times");
    before = std::move(now);
  }
}

// What another library does by itself: each call, its place and its bytes, also if the place is the descriptor's own.
void calls_of_a_library(World& world, const std::string& folder) {
  if (!PENSTOCK_HAVE_MPI) return;  // only what MPI brings along makes calls by itself
  about("calls of a library");
  const std::string path = fs::canonical(world.folder()).string() + fmt::format("/plain{}", world.rank());
  CHECK(plain_calls(path.c_str()) != 0, "its calls");
  Trace::current()->flush();
  const Written now = read_own(folder);
  std::vector<std::array<int64_t, 3>> found;  // operation, offset, length
  for (const TracedCall& call : now.calls)
    if (const auto at = now.paths.find(call.path); at != now.paths.end() && at->second == path && call.failed == 0)
      found.push_back({static_cast<int64_t>(call.operation), call.offset, call.length});
  using enum Operation;
  const auto of = [](Operation operation, int64_t offset, int64_t length) {
    return std::array{static_cast<int64_t>(operation), offset, length};
  };
  const std::vector<std::array<int64_t, 3>> expected = {
      of(create, 0, 0), of(write, 0, 5),   of(write, 5, 3),  of(read, 2, 4), of(read, 6, 1),     of(write, 100, 3),
      of(read, 101, 2), of(write, 200, 7), of(read, 203, 4), of(sync, 0, 0), of(truncate, 0, 0), of(close, 0, 0)};
  CHECK(found == expected, fmt::format("{} calls", found.size()));
}

// The program's files are as good as ever, and each report says it.
void a_folder_that_cannot_be(World& world) {
  about("no folder");
  int64_t said = 0;
  for (int i = 0; i < 2; ++i) {
    auto file = File::create(world.comm(), fmt::format("{}/{}.h5", world.folder(), i));
    if (!CHECK_OK(file.status(), "create")) return;
    CHECK_OK(file->put("x", f64, rows(world).part, filled(rows(world), f64, 1).data()), "put");
    CHECK_OK(file->commit(), "commit");
    for (const std::string& warning : file->report().warnings) said += warning.starts_with("PENSTOCK_TRACE") ? 1 : 0;
    CHECK_OK(file->close(), "close");
  }
  CHECK(said == 2, fmt::format("said {} times", said));
}

}  // namespace
}  // namespace penstock::test

// HOW: "ways"; "folder", where FOLDER is a file; "killed" after a commit.
int main(int argc, char** argv) {
  using namespace penstock::test;  // NOLINT(google-build-using-namespace): this is a main
  const std::string_view how = argc > 1 ? argv[1] : "";
  const std::string folder = argc > 2 ? argv[2] : "";
  if (how == "folder") std::ofstream(folder) << "no folder";
  ::setenv("PENSTOCK_TRACE", folder.c_str(), 1);
  World world(&argc, &argv);
  if (how == "ways") every_way(world, folder);
  if (how == "ways") calls_of_a_library(world, folder);
  if (how == "folder") a_folder_that_cannot_be(world);
  if (how == "killed") {
    write_and_read(world, "killed.h5", "hdf5/two_phase");
    if (world.comm()->barrier().ok()) ::raise(SIGKILL);
  }
  if (!CHECK(how == "ways" || how == "folder", "an argument says what to do")) return 2;
  if (world.comm()->barrier().ok() && world.rank() == 0) std::filesystem::remove_all(folder);
  return world.finish("trace");
}
