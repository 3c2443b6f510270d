// no_space: a disk that fills up, for every method: the same error on every rank, the old file as it was, nothing
// left over, no hang.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "core/engine/engine.hpp"
#include "core/transport/transport.hpp"
#include "tests/conformance/method.hpp"
#include "tests/harness/slice.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

namespace fs = std::filesystem;
const ElementType f64{Kind::f64};

std::set<std::string> listing(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

// One f64 dataset of ELEMENTS over the ranks.
Status write(World& world, const std::string& path, const std::string& plan, int64_t elements, uint64_t seed) {
  auto file = File::create(world.comm(), path, plan);
  if (!file) return file.status();
  const Slice slice = grid({elements}, {world.size()}, world.rank());
  const auto memory = filled(slice, f64, seed);
  CHECK_OK(file->lend("data", f64, slice.part, memory.data()), "lend");
  return file->close();
}

void check_old(World& world, const std::string& path, int64_t elements, uint64_t seed) {
  auto file = File::open(world.comm(), path);
  if (!CHECK_OK(file.status(), "open the old file")) return;
  const Slice slice = replicated({elements});
  auto memory = blank(slice, f64);
  CHECK_OK(file->get("data", f64, slice.part, memory.data()), "get");
  if (!CHECK_OK(file->close(), "read the old file")) return;
  int64_t wrong = 0;
  CHECK(differences(slice, f64, seed, memory, wrong) == 0, "the old file has other values");
}

// Leaves about FREE bytes of the disk.
void fill_disk(const std::string& disk, int64_t free) {
  const std::string path = disk + "/filler";
  const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  for (int64_t step = 1 << 20; step >= 4096; step /= 2)
    while (static_cast<int64_t>(fs::space(disk).available) >= free + step)
      if (posix_fallocate(fd, lseek(fd, 0, SEEK_END), step) != 0) break;
  close(fd);
}

// A file of ELEMENTS does not fit; what was there before does.
void does_not_fit(World& world, const std::string& disk, const Method& method, const char* when, int64_t elements) {
  about(std::string(when) + ": " + method.plan);
  const std::string path = disk + "/file" + method.extension;
  constexpr int64_t old_elements = 3000;
  const Status old = write(world, path, method.plan, old_elements, 1);
  if (old.code() == Code::unsupported && method.may_refuse)
    return say(fmt::format("refused: {}: {}", method.plan, old.message()));
  if (!CHECK_OK(old, "the old file")) return;
  if (elements == 0 && world.rank() == 0) fill_disk(disk, 16 << 10);
  CHECK_OK(world.comm()->barrier(), "barrier");
  const auto before = listing(disk);

  const Status status = write(world, path, method.plan, elements == 0 ? 60000 : elements, 2);
  CHECK(status.code() == Code::no_space, fmt::format("is '{}': {}", name(status.code()), status.message()));
  int64_t codes[] = {static_cast<int64_t>(status.code()), -static_cast<int64_t>(status.code())};
  CHECK_OK(world.comm()->all_reduce_max(codes), "compare");
  CHECK(codes[0] == -codes[1], "the ranks have different statuses");
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0)
    for (const std::string& entry : listing(disk)) CHECK(before.contains(entry), "left over: " + entry);
  check_old(world, path, old_elements, 1);
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0)
    for (const std::string& entry : listing(disk)) fs::remove_all(disk + "/" + entry);
  CHECK_OK(world.comm()->barrier(), "barrier");
}

// Ranks have many files of their own, rank 0 none, so that it is the first to be ready: its program may exit with the
// error at once, and then a launcher ends the others. So all is gone when the first rank is told.
void gone_when_told(World& world, const std::string& disk, int64_t elements) {
  about("gone when told");
  const auto before = listing(disk);
  CHECK_OK(world.comm()->barrier(), "barrier");
  auto file = File::create(world.comm(), disk + "/many.h5", "hdf5/independent:placement=per_rank,split=group");
  if (!CHECK_OK(file.status(), "create")) return;
  const std::vector<double> large(static_cast<size_t>(elements));
  const auto put = [&](const std::string& name, int64_t count) {
    CHECK_OK(file->lend(name, f64, *Decomposition::block({count}, {0}, {count}), large.data()), "lend");
  };
  if (world.rank() > 0)
    for (int i = 0; i < 100; ++i) put(fmt::format("group{}_{}/data", world.rank(), i), 1);
  if (world.rank() == world.size() - 1) put("too_large", elements);
  const Status status = file->close();
  const auto after = listing(disk);
  CHECK(status.code() == Code::no_space, fmt::format("is '{}': {}", name(status.code()), status.message()));
  CHECK(after == before, fmt::format("{} files are there still", after.size() - before.size()));
  CHECK_OK(world.comm()->barrier(), "barrier");
}

// Several aggregators, with which OMPIO reports success of what is lost, and ROMIO fails on some ranks only.
std::vector<Method> with_aggregators() {
  std::vector<Method> list;
  const auto add = [&](const std::string& name, const std::string& plan, const std::string& extension) {
    for (const char* hints : {"hint.cb_nodes=4", "hint.cb_nodes=4,hint.cb_config_list=*:*"})
      for (const char* preallocate : {"true", "false"})
        list.push_back(
            {fmt::format("{},preallocate={},{}", plan, preallocate, hints), "", extension, true, false, "", "", name});
  };
  if (find_transport("mpiio")->describe().missing.empty()) {
    add("", "raw/mpiio:coordination=collective", ".raw");
    add("", "hdf5/mpiio:synchronism=split", ".h5");
  }
  constexpr std::pair<const char*, const char*> collective[] = {
      {"phdf5", "collective=true"}, {"netcdf4", "mode=collective"}, {"pnetcdf", "mode=collective"}};
  for (const auto& [name, parameters] : collective) {
    const Engine& engine = *find_engine(name);
    if (engine.describe().missing.empty())
      add(name, fmt::format("{}:{}", name, parameters), "." + std::string(engine.extension()));
  }
  return list;
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  const char* disk = std::getenv("PENSTOCK_SMALL_DISK");
  if (disk == nullptr) return world.skip("PENSTOCK_SMALL_DISK names no disk: run by with_small_disk.sh");
  const auto capacity = static_cast<int64_t>(std::filesystem::space(disk).capacity);
  std::vector<Method> all = methods();
  for (Method& method : with_aggregators()) all.push_back(std::move(method));
  for (Method& method : all) {
    // Six million elements in chunks of 256 bytes take half a minute under sanitizers.
    constexpr std::string_view tiny = "chunk_bytes=256";
    if (const size_t at = method.plan.find(tiny); at != std::string::npos)
      method.plan.replace(at, tiny.size(), "chunk_bytes=64KiB");
    const bool interesting = method.base || method.plan.find("io=") != std::string::npos ||
                             method.plan.find("preallocate=") != std::string::npos ||
                             method.plan.find("queue_depth=") != std::string::npos ||
                             method.plan.find("writers=") != std::string::npos;
    if (!interesting) continue;
    does_not_fit(world, disk, method, "a file larger than the disk", capacity / 8 * 3);
    does_not_fit(world, disk, method, "a disk that is nearly full", 0);
  }
  gone_when_told(world, disk, capacity / 4);  // of 8 bytes
  about("");
  return world.finish("no_space");
}
