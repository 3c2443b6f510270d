// Many datasets in one commit take no more collective calls than few, and each of them is proved and kept by itself.
// Reading one dataset costs the same whatever else is in the file.
#include <penstock.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "tests/harness/world.hpp"
#include "tests/harness/wrapped_communicator.hpp"

namespace {
std::atomic<int64_t> allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

using namespace penstock;
using namespace penstock::test;

namespace {

const ElementType f64{Kind::f64};
constexpr int64_t rows = 3;  // of each rank

std::string name_of(int64_t i) { return fmt::format("group{}/data{:04d}", i % 3, i); }

// Neighbours that are alike, and neighbours that differ.
bool is_list(int64_t i) { return i / 2 % 2 == 0; }
Dims row_of(int64_t i) { return is_list(i) ? Dims{} : Dims{2}; }

Decomposition part_of(const Communicator& comm, int64_t i, int64_t count) {
  Dims shape{rows * comm->size()}, start{rows * comm->rank()}, box{count};
  for (const int64_t extent : row_of(i)) {
    shape.push_back(extent);
    start.push_back(0);
    box.push_back(extent);
  }
  return *Decomposition::block(shape, start, box);
}

std::vector<double> values_of(const Communicator& comm, int64_t i) {
  return std::vector<double>(rows * 2, static_cast<double>(10 * i + comm->rank()));
}

// Of this rank, all in all, to write DATASETS, to change every second of them where CHANGE, and to read them.
size_t calls_for(const Communicator& world, const std::string& path, const std::string& plan, int64_t datasets,
                 bool change) {
  const auto comm = std::make_shared<WrappedCommunicator>(world);
  for (int64_t step = 1; step <= (change ? 2 : 1); ++step) {
    auto file = step == 1 ? File::create(comm, path, plan) : File::reopen(comm, path, plan);
    if (!CHECK_OK(file.status(), "create or reopen")) return 0;
    for (int64_t i = 0; i < datasets; i += step) {
      const auto values = values_of(comm, i + step);
      CHECK_OK(file->put(name_of(i), f64, part_of(comm, i, rows), values.data()), "put");
      if (comm->rank() == 0) CHECK_OK(file->set_attribute(name_of(i), text_attribute("units", "m")), "attribute");
    }
    CHECK_OK(file->close(), "close");
  }
  auto file = File::open(comm, path);
  if (!CHECK_OK(file.status(), "open")) return 0;
  CHECK(static_cast<int64_t>(file->datasets().size()) == datasets, "all datasets are there");
  std::vector<std::vector<double>> read(static_cast<size_t>(datasets), std::vector<double>(rows * 2));
  for (int64_t i = 0; i < datasets; ++i) {
    CHECK(file->attributes(name_of(i)).size() == 1, "one attribute");
    CHECK_OK(file->get(name_of(i), f64, part_of(comm, i, rows), read[static_cast<size_t>(i)].data()), "get");
  }
  CHECK_OK(file->close(), "close what was read");
  for (int64_t i = 0; i < datasets; ++i) {
    auto expected = values_of(comm, i + (change && i % 2 == 0 ? 2 : 1));
    auto& got = read[static_cast<size_t>(i)];
    got.resize(is_list(i) ? rows : 2 * rows);
    expected.resize(got.size());
    CHECK(got == expected, "values of " + name_of(i));
  }
  return comm->calls().size();
}

void test_calls(World& world, const std::string& plan, bool change) {
  about(plan);
  const std::string path = world.folder() + "/" + std::to_string(std::hash<std::string>{}(plan)) + ".file";
  const size_t few = calls_for(world.comm(), path, plan, 8, change);
  const size_t many = calls_for(world.comm(), path, plan, 200, change);
  CHECK(few > 0 && few == many, fmt::format("{} collective calls for 8 datasets, {} for 200", few, many));
}

// A time loop on one file: docs/decisions/0042 lists the calls.
void repeated_commits(World& world) {
  about("repeated commits");
  const auto comm = std::make_shared<WrappedCommunicator>(world.comm());
  auto file = File::create(comm, world.folder() + "/loop.h5");
  if (!CHECK_OK(file.status(), "create")) return;
  for (int step = 0; step < 4; ++step) {
    comm->forget();
    const auto values = values_of(comm, step);
    CHECK_OK(file->lend("x", f64, part_of(comm, 2, rows), values.data()), "lend");
    CHECK_OK(file->commit(), "commit");
  }
  const size_t calls = comm->calls().size();
  CHECK(calls <= 7, fmt::format("{} collective calls for a commit like the one before", calls));
  CHECK_OK(file->close(), "close");
}

// Too long to be kept without an allocation, so that copies of many are seen.
std::string long_name_of(int64_t i) { return fmt::format("a group of its own/data{:04d}", i); }

// What one reading commit does, by things that can be counted.
struct Cost {
  int64_t allocations = 0, words = 0;  // words that were reduced
};

Cost cost_to_read(const Communicator& world, const std::string& path, const std::string& plan, int64_t datasets) {
  {
    auto file = File::create(world, path);
    if (!CHECK_OK(file.status(), "create")) return {};
    const auto values = values_of(world, 0);
    for (int64_t i = 0; i < datasets; ++i)
      CHECK_OK(file->put(long_name_of(i), f64, part_of(world, i, rows), values.data()), "put");
    CHECK_OK(file->close(), "close");
  }
  const auto comm = std::make_shared<WrappedCommunicator>(world);
  auto file = File::open(comm, path, plan);
  if (file.status().code() == Code::unsupported) return {};  // an engine that is not built
  if (!CHECK_OK(file.status(), "open")) return {};
  Cost cost;
  for (int64_t i = 0; i < 3; ++i) {  // the first time things are set up
    comm->forget();
    const int64_t before = allocations;
    std::vector<double> read(rows * 2);
    CHECK_OK(file->get(long_name_of(i), f64, part_of(comm, i, rows), read.data()), "get");
    CHECK_OK(file->commit(), "commit");
    CHECK(read[0] == static_cast<double>(world->rank()), "the value");
    cost = {allocations - before, comm->words()};
  }
  CHECK_OK(file->close(), "close what was read");
  return cost;
}

void test_reading_one(World& world, const std::string& extension, const std::string& plan) {
  about("reading one dataset, " + plan);
  const std::string path = world.folder() + "/one." + extension;
  const Cost few = cost_to_read(world.comm(), path, plan, 8), many = cost_to_read(world.comm(), path, plan, 400);
  CHECK(many.words == few.words, fmt::format("{} words reduced among 8 datasets, {} among 400", few.words, many.words));
  CHECK(many.allocations < few.allocations + 100,
        fmt::format("{} allocations among 8 datasets, {} among 400", few.allocations, many.allocations));
}

// Names and descriptions in C, while datasets are read one by one by each rank alone.
int64_t allocations_of_a_walk(const std::string& path) {
  penstock_file* file = nullptr;
  if (!CHECK(penstock_open(PENSTOCK_ALONE, path.c_str(), nullptr, &file) == PENSTOCK_OK, penstock_message())) return 0;
  int64_t most = 0;
  const char* first = nullptr;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t before = allocations;
    const char* name = penstock_name(file, i);
    if (i == 0) first = name;
    int rank = 0;
    int64_t shape[8] = {};
    penstock_decomposition* d = nullptr;
    CHECK(penstock_describe(file, name, nullptr, &rank, shape, nullptr) == PENSTOCK_OK, penstock_message());
    CHECK(penstock_replicated(rank, shape, &d) == PENSTOCK_OK, penstock_message());
    std::vector<double> values(1000);
    CHECK(penstock_get(file, name, PENSTOCK_DOUBLE, d, values.data(), nullptr) == PENSTOCK_OK, penstock_message());
    CHECK(penstock_commit(file) == PENSTOCK_OK, penstock_message());
    penstock_free(d);
    if (i > 0) most = std::max<int64_t>(most, allocations - before);
  }
  CHECK(penstock_name(file, 0) == first, "a name stays where it is");
  CHECK(penstock_close(file) == PENSTOCK_OK, penstock_message());
  return most;
}

void test_walk_in_c(World& world) {
  about("datasets one by one, in C");
  const std::string path = world.folder() + "/walk.h5";
  (void)cost_to_read(world.comm(), path, "", 8);
  const int64_t few = allocations_of_a_walk(path);
  CHECK_OK(world.comm()->barrier(), "barrier");
  (void)cost_to_read(world.comm(), path, "", 400);
  const int64_t many = allocations_of_a_walk(path);
  CHECK(few > 0 && many < few + 100, fmt::format("{} allocations among 8 datasets, {} among 400", few, many));
}

// One dataset of many alike has a hole, or is put twice in part.
void test_proof(World& world) {
  constexpr int64_t datasets = 40, wrong = 27;
  for (const bool twice : {false, true}) {
    about(twice ? "put twice" : "a hole");
    auto file = File::create(world.comm(), world.folder() + "/proof.h5");
    if (!CHECK_OK(file.status(), "create")) return;
    const auto values = values_of(world.comm(), 0);
    const bool here = world.rank() == world.size() - 1;
    for (int64_t i = 0; i < datasets; ++i) {
      const bool hole = here && !twice && i == wrong;
      CHECK_OK(file->put(name_of(i), f64, part_of(world.comm(), i, rows - (hole ? 1 : 0)), values.data()), "put");
    }
    if (here && twice)
      CHECK_OK(file->put(name_of(wrong), f64, part_of(world.comm(), wrong, 1), values.data()), "put again");
    const Status status = file->close();
    CHECK(status.code() == (twice ? Code::overlap : Code::incomplete), "the code");
    CHECK(status.message().find(name_of(wrong)) != std::string::npos, "the dataset's name: " + status.message());
  }
}

}  // namespace

int main(int argc, char** argv) {
  World world(&argc, &argv);
  for (const char* plan :
       {"hdf5/two_phase", "hdf5/independent", "netcdf/two_phase", "hdf5/two_phase:placement=parts,parts=2"})
    test_calls(world, plan, true);
  for (const char* plan :
       {"raw/two_phase", "hdf5/independent:placement=per_rank", "raw/two_phase:placement=rank_order"})
    test_calls(world, plan, false);
  repeated_commits(world);
  test_proof(world);
  test_reading_one(world, "h5", "hdf5/two_phase");
  test_reading_one(world, "h5", "hdf5/independent:verify=always");
  test_reading_one(world, "h5", "phdf5");
  test_reading_one(world, "nc", "pnetcdf");
  test_reading_one(world, "raw", "raw/independent");
  test_walk_in_c(world);
  return world.finish("many_datasets");
}
