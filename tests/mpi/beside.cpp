// beside: while one file is written in the background, the program writes and reads others on the same communicator,
// with the same libraries.
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>
#include <penstock/timeout.hpp>

#include "core/engine/engine.hpp"
#include "tests/harness/slice.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

const ElementType f64{Kind::f64};

struct Field {
  Slice slice;
  std::vector<std::byte> memory;
  uint64_t seed;
};

Field field(World& world, int64_t rows, uint64_t seed) {
  const Slice slice = grid({rows, 500}, process_grid(world.size(), 2, false), world.rank());
  return {slice, filled(slice, f64, seed), seed};
}

void read_back(World& world, const std::string& path, const Field& field, int datasets, const std::string& plan) {
  auto file = File::open(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), "open")) return;
  for (int i = 0; i < datasets; ++i) {
    auto memory = blank(field.slice, f64);
    CHECK_OK(file->get(fmt::format("d{}", i), f64, field.slice.part, memory.data()), "get");
    CHECK_OK(file->commit(), "read");
    CHECK(memory == field.memory, "elements differ");
  }
  CHECK_OK(file->close(), "close");
}

Result<File> start(World& world, const std::string& path, const std::string& plan, const Field& field, int datasets) {
  PENSTOCK_ASSIGN(File file, File::create(world.comm(), path, plan));
  for (int i = 0; i < datasets; ++i)
    PENSTOCK_TRY(file.lend(fmt::format("d{}", i), f64, field.slice.part, field.memory.data()));
  PENSTOCK_TRY(file.commit_start());
  return file;
}

void write_beside(World& world, const std::string& plan, std::string_view extension, const std::string& reader) {
  about(plan);
  const Field large = field(world, 400, 1), small = field(world, 40, 2);
  const std::string background = fmt::format("{}/background.{}", world.folder(), extension);
  auto file = start(world, background, plan, large, 20);
  if (!CHECK_OK(file.status(), "start")) return;
  for (int turn = 0; turn < 4; ++turn) {
    const std::string beside = fmt::format("{}/beside{}.h5", world.folder(), turn);
    auto other = start(world, beside, turn % 2 == 0 ? "hdf5" : "phdf5", small, 3);
    if (!CHECK_OK(other.status(), "start another")) return;
    for (int times = 0; times < 3; ++times) CHECK_OK(file->commit_test().status(), "test");
    CHECK_OK(other->close(), "close another");
    read_back(world, beside, small, 3, turn % 2 == 0 ? "phdf5" : "");
  }
  CHECK_OK(file->close(), "close");
  read_back(world, background, large, 20, reader);
}

// Some ranks have sent already when all drop the file: nothing is left, nobody waits, and the next file is right.
void give_up(World& world, const std::string& plan) {
  about("given up: " + plan);
  const Field large = field(world, 400, 3);
  const std::string path = world.folder() + "/given-up.h5";
  {
    auto file = start(world, path, plan, large, 20);
    if (!CHECK_OK(file.status(), "start")) return;
    if (world.rank() % 2 == 0) CHECK_OK(file->commit_test().status(), "test");
  }
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0) CHECK(std::filesystem::is_empty(world.folder()), "something is left");
  CHECK_OK(world.comm()->barrier(), "barrier");
  auto file = start(world, path, plan, large, 2);
  if (!CHECK_OK(file.status(), "start again")) return;
  CHECK_OK(file->close(), "close");
  read_back(world, path, large, 2, "");
  if (world.rank() == 0) std::filesystem::remove(path);
}

// A program may compute for longer than anybody may wait, also one whose ranks wait for those of other nodes.
void compute_long(World& world) {
  if (world.comm()->node_size() == world.size()) return;
  about("computing");
  const Field large = field(world, 400, 5);
  const double usual = timeout();
  CHECK_OK(set_timeout(1), "timeout");
  auto file = start(world, world.folder() + "/long.h5", "hdf5/two_phase", large, 20);
  if (!CHECK_OK(file.status(), "start")) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  CHECK_OK(file->close(), "close");
  CHECK_OK(set_timeout(usual), "timeout");
  read_back(world, world.folder() + "/long.h5", large, 20, "");
}

// A rank without messages needs no thread level to move while the program computes.
void alone(World& world) {
  if (world.size() > 1) return;
  about("alone");
  const Field large = field(world, 400, 4);
  auto file = start(world, world.folder() + "/alone.h5", "hdf5/two_phase", large, 20);
  if (!CHECK_OK(file.status(), "start")) return;
  while (true) {
    const auto done = file->commit_test();
    if (!CHECK_OK(done.status(), "test") || *done) break;
  }
  CHECK_OK(file->commit_wait(), "wait");
  CHECK(file->report().background_seconds > 0, "nothing moved in the background");
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock;
  test::World world(&argc, &argv);
  for (const char* plan : {"hdf5/two_phase", "hdf5/two_phase:writers=1", "hdf5/independent"})
    test::give_up(world, plan);
  test::compute_long(world);
  test::alone(world);
  for (const char* plan : {"hdf5/two_phase", "hdf5/two_phase:buffer_bytes=65536", "hdf5/mpiio:synchronism=nonblocking",
                           "hdf5/mpiio", "hdf5/servers", "hdf5/per_process"})
    test::write_beside(world, plan, "h5", "");
  for (const Engine* engine : engines()) {
    const std::string name(engine->describe().name);
    if (engine->describe().missing.empty())
      test::write_beside(world, name, engine->extension(), engine->format().empty() ? name : "");
  }
  return world.finish("beside");
}
