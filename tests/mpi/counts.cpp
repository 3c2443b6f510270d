// counts: what is counted for virtual ranks is what as many real ones send, and what they ask of the file system.
#include <algorithm>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "bench/count/costs.hpp"
#include "core/methods/methods.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

using bench::Costs;
using bench::VirtualJob;
using bench::Workload;

const ElementType f64{Kind::f64};
// Different writers, so that no plan is known from the other.
std::string plan_with(const std::string& neighbours) {
  return fmt::format(
      "hdf5/two_phase:io=buffered,buffer_bytes=64KiB,memory_bytes=1MiB,durability=full,writers={},"
      "neighbours={}",
      neighbours == "shared" ? 5 : 3, neighbours);
}

struct Seen {
  int64_t messages = 0, metadata_calls = 0, writers = 0;
};

Result<Seen> write(World& world, const Workload& workload, const std::string& neighbours, const std::string& path) {
  PENSTOCK_ASSIGN(File file, File::create(world.comm(), path, plan_with(neighbours)));
  std::vector<std::vector<double>> memory;
  for (size_t i = 0; i < workload.fields().size(); ++i) {
    PENSTOCK_ASSIGN(const Decomposition part, workload.part(static_cast<int>(i), world.rank(), world.size()));
    memory.emplace_back(static_cast<size_t>(part.elements()), 1.0);
    PENSTOCK_TRY(file.lend(workload.fields()[i].name, f64, part, memory.back().data()));
  }
  PENSTOCK_TRY(file.close());
  PENSTOCK_ASSIGN(File whole, File::open(world.comm(), path, "independent"));
  for (size_t i = 0; i < workload.fields().size(); ++i) {
    std::ranges::fill(memory[i], 0.0);
    PENSTOCK_ASSIGN(const Decomposition part, workload.part(static_cast<int>(i), world.rank(), world.size()));
    PENSTOCK_TRY(whole.get(workload.fields()[i].name, f64, part, memory[i].data()));
  }
  PENSTOCK_TRY(whole.close());
  for (const std::vector<double>& values : memory)
    CHECK(std::ranges::all_of(values, [&](double value) { return value == 1.0; }), "values");
  const Report& report = file.report();
  int64_t sums[3] = {report.messages, report.metadata_calls, report.writers};
  PENSTOCK_TRY(world.comm()->all_reduce_sum(sums));
  return Seen{sums[0], sums[1], sums[2]};
}

Result<Costs> count(World& world, const Workload& workload, const std::string& neighbours) {
  PENSTOCK_ASSIGN(const Plan plan, parse_plan(plan_with(neighbours), "hdf5", vocabulary()));
  int64_t of_a_node = world.comm()->node_size();
  PENSTOCK_TRY(world.comm()->all_reduce_max(std::span(&of_a_node, 1)));
  PENSTOCK_ASSIGN(const VirtualJob job,
                  VirtualJob::make(workload, *find_format("hdf5"),
                                   {world.size(), static_cast<int>(of_a_node), plan.settings.integer("block")}));
  return bench::count_two_phase(job, plan.settings, 1 << 20);
}

int64_t sum(const bench::PerRank& of, int ranks) { return static_cast<int64_t>(of.mean * ranks + 0.5); }

void check_workload(World& world, const std::string& name, const std::string& neighbours) {
  about(name + ", neighbours=" + neighbours);
  bench::WorkloadRequest request;
  request.total_bytes = 4 << 20;
  request.type = f64;
  request.ranks = world.size();
  request.datasets = 20;
  const auto workload = bench::make_workload(name, request);
  if (!CHECK_OK(workload.status(), "make")) return;
  const auto counted = count(world, **workload, neighbours);
  const std::string path = world.folder() + "/" + name + neighbours;
  const auto first = write(world, **workload, neighbours, path + "1.h5");
  const auto again = write(world, **workload, neighbours, path + "2.h5");  // its plan is cached
  if (!CHECK_OK(counted.status(), "count") || !CHECK_OK(first.status(), "write") || !CHECK_OK(again.status(), "write"))
    return;
  const auto same = [](int64_t real, int64_t expected, const char* what) {
    CHECK(real == expected, fmt::format("{}: {} were counted, {} are real", what, expected, real));
  };
  same(first->messages, sum(counted->messages, world.size()), "messages");
  const bool shared = neighbours == "shared";
  same(again->messages, sum(shared ? counted->far_messages : counted->data_messages, world.size()), "messages of data");
  same(first->writers, counted->writers, "writers");
  same(first->metadata_calls, counted->metadata.total() - counted->metadata.allocate, "calls on metadata");
}

// What ranks tell each other once about their nodes belongs to no file.
void meet(World& world) {
  auto file = File::create(world.comm(), world.folder() + "/first.h5", plan_with("shared"));
  if (CHECK_OK(file.status(), "create")) CHECK_OK(file->close(), "close");
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;  // NOLINT(google-build-using-namespace)
  World world(&argc, &argv);
  meet(world);
  for (const char* name : {"block2d", "block3d", "many"})
    for (const char* neighbours : {"shared", "messages"}) check_workload(world, name, neighbours);
  return world.finish("counts");
}
