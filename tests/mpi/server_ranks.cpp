// server_ranks: ranks set apart as I/O servers: what they write and read, in any assignment and with little memory;
// several movements at once, one given up, and who is refused.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <penstock.h>
#include <penstock/file.hpp>
#include <penstock/mpi.hpp>

#include "core/methods/methods.hpp"
#include "core/plan/plan.hpp"
#include "core/transport/transport.hpp"
#include "tests/harness/slice.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

const ElementType f64{Kind::f64};

Slice part_of(const Communicator& comm, int64_t rows) {
  return grid({rows, 1000}, process_grid(comm->size(), 2, false), comm->rank());
}

void write_and_read(World& world, const std::string& plan, int64_t rows, uint64_t seed) {
  about(plan);
  const std::string path = world.folder() + (plan.starts_with("raw") ? "/file.raw" : "/file.h5");
  const Slice slice = part_of(world.comm(), rows);
  {
    auto file = File::create(world.comm(), path, plan);
    if (!CHECK_OK(file.status(), "create")) return;
    const auto memory = filled(slice, f64, seed);
    CHECK_OK(file->put("data", f64, slice.part, memory.data()), "put");
    CHECK_OK(file->close(), "write");
  }
  auto file = File::open(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), "open")) return;
  auto memory = blank(slice, f64);
  CHECK_OK(file->get("data", f64, slice.part, memory.data()), "get");
  CHECK_OK(file->close(), "read");
  int64_t wrong = 0;
  CHECK(differences(slice, f64, seed, memory, wrong) == 0, "other values");
}

// One file of rows of 1 MiB, a rank's own each, moved by the transport alone.
struct Movement {
  Movement(World& world, const std::string& path, std::byte value)
      : data(1 << 20, value), plan(*parse_plan("servers:kind=ranks,buffer_bytes=1MiB", "raw", vocabulary())) {
    const int64_t bytes = static_cast<int64_t>(world.size()) << 20;
    job.comm = world.comm();
    job.files = posix_storage();
    job.parts = {{path, bytes, 0}};
    job.phases = &phases;
    if (world.rank() == 0) CHECK_OK(posix_storage()->create(path, bytes, Io::buffered, false).status(), "create");
    CHECK_OK(world.comm()->barrier(), "barrier");
    const Dims shape{world.size(), 1 << 20};
    job.pieces.push_back(
        {0, 0, 1, 0, Selection::of_box(shape, Box{Dims{world.rank(), 0}, Dims{1, 1 << 20}}), data.data()});
    auto begun = find_transport("servers")->begin(job, plan.settings);
    if (CHECK_OK(begun.status(), "begin")) transfer = *std::move(begun);
  }
  std::vector<std::byte> data;
  Plan plan;
  PhaseTimes phases;
  Job job;
  std::unique_ptr<Transfer> transfer;
};

void several_at_once(World& world) {
  about("several at once");
  const std::string path = world.folder() + "/several";
  {
    Movement one(world, path + "1", std::byte{1}), two(world, path + "2", std::byte{2}),
        lost(world, path + "3", std::byte{3});
    for (Movement* m : {&one, &two, &lost}) CHECK_OK(m->transfer->progress(0).status(), "progress");
    lost.transfer.reset();  // the others are not disturbed
    CHECK_OK(two.transfer->finish(), "finish");
    CHECK(one.transfer->detach(), "servers do not take the rest");
    CHECK_OK(one.transfer->finish(), "finish");
    CHECK_OK(world.comm()->barrier(), "barrier");  // a rank's own server is done, others may be writing yet
  }
  for (const int n : {1, 2}) {
    auto file = posix_storage()->open(path + std::to_string(n), Io::buffered, false);
    if (!CHECK_OK(file.status(), "open")) continue;
    std::vector<std::byte> found(static_cast<size_t>(world.size()) << 20);
    CHECK_OK((*file)->read(0, found), "read");
    CHECK(
        std::count(found.begin(), found.end(), static_cast<std::byte>(n)) == static_cast<std::ptrdiff_t>(found.size()),
        "other values");
  }
}

void who_is_refused(World& world) {
  about("refused");
  const std::string path = world.folder() + "/refused.h5";
  const auto refusal = [&](const Communicator& comm) {
    auto file = File::create(comm, path, "hdf5/servers:kind=ranks");
    Status status = file.status();
    if (status.ok()) status = file->close();
    CHECK(status.code() == Code::unsupported && status.message().find("needs penstock_split") != std::string::npos,
          fmt::format("is '{}': {}", name(status.code()), status.message()));
  };
  auto some = world.comm()->split(world.rank() % 2);
  if (CHECK_OK(some.status(), "split")) refusal(*some);
  CHECK_OK(world.comm()->barrier(), "barrier");
  refusal(serial_communicator());
  MPI_Comm again = MPI_COMM_NULL, all = MPI_COMM_SELF;
  CHECK(penstock_split(MPI_COMM_SELF, &again) == PENSTOCK_INVALID && again == MPI_COMM_NULL, "one rank was split");
  CHECK(penstock_unsplit(&all) == PENSTOCK_INVALID, "a communicator without servers lost them");
  CHECK(penstock_unsplit(&again) == PENSTOCK_OK, "there is nothing to dismiss");
  CHECK(penstock_split(MPI_COMM_SELF, nullptr) == PENSTOCK_INVALID, "no place for the result");
}

// Some of the compute ranks are split once more and dismiss their server themselves; the outer servers wait for
// MPI_Finalize.
void split_and_unsplit(World& world) {
  about("split and unsplit");
  MPI_Comm pair = MPI_COMM_NULL, compute = MPI_COMM_NULL;
  const auto& ranks = world.comm()->server_ranks()->clients;
  MPI_Group all, some;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &pair);
  MPI_Group_free(&all);
  MPI_Group_free(&some);
  ::setenv("PENSTOCK_SERVER_RANKS", "1", 1);
  const penstock_status status = penstock_split(pair, &compute);
  if (world.size() == 1) {
    CHECK(status == PENSTOCK_INVALID, "one rank was split");
  } else if (CHECK(status == PENSTOCK_OK, penstock_message()) && compute != MPI_COMM_NULL) {
    int size = 0;
    MPI_Comm_size(compute, &size);
    CHECK(size == world.size() - 1, "not one rank serves");
    penstock_file* file = nullptr;
    const std::string path = world.folder() + "/inner.h5";
    CHECK(penstock_create(compute, path.c_str(), "hdf5/servers:kind=ranks", &file) == PENSTOCK_OK, penstock_message());
    CHECK(penstock_close(file) == PENSTOCK_OK, penstock_message());
    CHECK(penstock_unsplit(&compute) == PENSTOCK_OK && compute == MPI_COMM_NULL, penstock_message());
  }
  MPI_Comm_free(&pair);
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  if (!world.comm()->server_ranks()) return world.skip("PENSTOCK_SERVER_RANKS is not set");
  uint64_t seed = 0;
  for (const char* format : {"hdf5", "raw"})
    for (const char* more : {"", ",assignment=any", ",buffer_bytes=64KiB", ",assignment=any,buffer_bytes=300KiB",
                             ",io=direct", ",placement=per_rank", ",durability=none"})
      for (const int64_t rows : {1, 4000})
        write_and_read(world, fmt::format("{}/servers:kind=ranks{}", format, more), rows, ++seed);
  several_at_once(world);
  who_is_refused(world);
  split_and_unsplit(world);
  about("");
  return world.finish("server_ranks");
}
