// wisdom: all ranks give an open plan the same transport, by rank 0's files only, and the choice costs no message.
#include <fmt/format.h>
#include <penstock/file.hpp>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "core/plan/wisdom.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

const ElementType f64{Kind::f64};

// Columns of ROWS rows; the last of several ranks has none.
Decomposition columns(World& world, int64_t rows) {
  constexpr int64_t width = 8;
  const int owners = std::max(1, world.size() - 1);
  const int64_t mine = world.rank() < owners ? width : 0;
  return *Decomposition::block({rows, width * owners}, {0, mine == 0 ? 0 : width * world.rank()}, {rows, mine});
}

std::vector<double> values(World& world, const Decomposition& part) {
  std::vector<double> list(static_cast<size_t>(part.elements()));
  for (size_t i = 0; i < list.size(); ++i) list[i] = 1e6 * world.rank() + static_cast<double>(i);
  return list;
}

int64_t sum(World& world, int64_t value) {
  CHECK_OK(world.comm()->all_reduce_sum(std::span(&value, 1)), "sum");
  return value;
}

// What the ranks report alike.
void check_alike(World& world, const Report& report) {
  const std::hash<std::string> hash;
  std::array<int64_t, 2> bounds{static_cast<int64_t>(hash(report.plan + report.reason + report.problem) >> 1), 0};
  bounds[1] = -bounds[0];
  CHECK_OK(world.comm()->all_reduce_max(bounds), "maximum");
  CHECK(bounds[0] == -bounds[1], "ranks report different plans, reasons or problems");
}

Report commit(World& world, File& file, const std::string& name, int64_t rows) {
  const Decomposition part = columns(world, rows);
  const auto data = values(world, part);
  CHECK_OK(file.lend(name, f64, part, data.data()), "lend");
  CHECK_OK(file.commit(), "commit");
  check_alike(world, file.report());
  return file.report();
}

Report write(World& world, const std::string& path, const std::string& plan) {
  auto file = File::create(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), "create")) return {};
  const Report report = commit(world, *file, "data", 100);
  CHECK_OK(file->close(), "close");
  return report;
}

Report read(World& world, const std::string& path, const std::string& plan, int64_t rows = 100) {
  auto file = File::open(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), "open")) return {};
  const Decomposition part = columns(world, rows);
  std::vector<double> found(static_cast<size_t>(part.elements()), -1);
  CHECK_OK(file->get("data", f64, part, found.data()), "get");
  CHECK_OK(file->commit(), "read");
  check_alike(world, file->report());
  CHECK(found == values(world, part), "what was read");
  const Report report = file->report();
  CHECK_OK(file->close(), "close");
  return report;
}

// On rank 0 the file PATH, elsewhere one that would be refused.
void use_wisdom(World& world, const std::string& path) {
  ::setenv("PENSTOCK_WISDOM", world.rank() == 0 ? path.c_str() : "/dev/null", 1);
}

std::string entry(std::string problem, std::string_view plan, bool in_memory) {
  if (const size_t at = problem.find("\"in_memory\":false"); in_memory && at != std::string::npos)
    problem.replace(at, 17, "\"in_memory\":true");
  return fmt::format(R"({{"problem": {}, "plan": "{}", "ratio": 0.5, "measured": "2026-11-20"}})", problem, plan);
}

bool uses(const Report& report, std::string_view transport) {
  return report.plan.starts_with(fmt::format("hdf5/{}", transport)) && report.reason.starts_with("wisdom of");
}

bool is_default(const Report& report) {
  return report.plan.starts_with("hdf5/two_phase") && report.reason == "default";
}

void try_transport(World& world, const std::string& transport) {
  about(transport);
  const std::string path = world.folder() + "/f.h5", name = transport.substr(0, transport.find(':'));
  use_wisdom(world, "none");
  const Report default_write = write(world, path, "hdf5"), default_read = read(world, path, "");
  CHECK(is_default(default_write) && is_default(default_read), default_write.plan + default_read.plan);
  const Report named_write = write(world, path, "hdf5/" + transport), named_read = read(world, path, transport);
  CHECK(named_write.reason.empty() && named_read.reason.empty(), "a plan that names its transport has a reason");

  const std::string file_of_wisdom = fmt::format("{}/{}.json", world.folder(), transport.size());  // each is read once
  if (world.rank() == 0)
    std::ofstream(file_of_wisdom) << fmt::format(
        R"({{"schema": "penstock.wisdom/1", "entries": [{}, {}, {}]}})", entry(default_write.problem, transport, false),
        entry(default_read.problem, transport, false), entry(default_read.problem, transport, true));
  CHECK_OK(world.comm()->barrier(), "barrier");
  use_wisdom(world, file_of_wisdom);
  const Report wise_write = write(world, path, "hdf5"), wise_read = read(world, path, "");
  for (const Report* report : {&wise_write, &wise_read})
    CHECK(uses(*report, name), report->warnings.empty() ? report->plan : report->warnings[0]);
  CHECK(wise_write.plan == named_write.plan && wise_read.plan == named_read.plan, "the plan of wisdom is another");
  const int64_t messages = sum(world, named_write.messages);
  CHECK(sum(world, wise_write.messages) == messages, "messages of the write");
  CHECK(messages > 0 || name != "two_phase", "nothing was sent");
  CHECK(sum(world, wise_read.messages) == sum(world, named_read.messages), "messages of the read");
  CHECK(write(world, path, "hdf5/two_phase").reason.empty(), "wisdom replaces a plan that names its transport");

  if (name == "mpiio") {
    ::setenv("PENSTOCK_HINTS", "romio_cb_pfr=enable", 1);
    const Report hinted = write(world, path, "hdf5");
    CHECK(is_default(hinted) && hinted.warnings.size() == 1, "hints that mpiio would refuse");
    ::unsetenv("PENSTOCK_HINTS");
  }

  // One file, whose commits are different problems.
  auto file = File::create(world.comm(), path, "hdf5");
  if (!CHECK_OK(file.status(), "create")) return;
  CHECK(uses(commit(world, *file, "data", 100), name), "the first commit");
  CHECK(is_default(commit(world, *file, "large", 10000)), "the second commit");
  CHECK(uses(commit(world, *file, "more", 100), name), "the third commit");
  CHECK_OK(file->close(), "close");
  read(world, path, "");
}

// Rank 0 knows the machine; all ranks estimate alike, without a message more.
void estimate_plans(World& world) {
  about("estimate");
  const std::string path = world.folder() + "/f.h5", file = world.folder() + "/machine.json";
  use_wisdom(world, "none");
  const Report before = write(world, path, "hdf5");
  if (world.rank() == 0) {
    const Problem problem = *parse_problem(before.problem);
    Wisdom wisdom{{}, {usual_machine()}};
    wisdom.machines[0].filesystem = problem.filesystem;
    wisdom.machines[0].mpi = problem.mpi;
    std::ofstream(file) << text_of(wisdom);
  }
  CHECK_OK(world.comm()->barrier(), "barrier");
  use_wisdom(world, file);
  const Report estimated = write(world, path, "hdf5");
  CHECK(estimated.reason.starts_with("estimate: "), estimated.reason);
  CHECK(estimated.plan == before.plan, estimated.plan);
  CHECK(sum(world, estimated.messages) == sum(world, before.messages), "messages of an estimate");
  CHECK(read(world, path, "").reason.starts_with("estimate: "), "the read");
}

// All ranks try the same plans on writes and reads, and settle.
void learn_plans(World& world) {
  about("learn");
  constexpr int most = 200;
  const std::string path = world.folder() + "/f.h5";
  use_wisdom(world, "none");
  const auto has_learnt = [](const Report& report) { return report.reason.starts_with("learnt: "); };
  CHECK(write(world, path, "learn").reason.starts_with("learning: 0 of "), "the first");
  bool written = false, was_read = false;
  for (int i = 0; i < most && !(written && was_read); ++i) {
    const Report report = write(world, path, "hdf5:learn=1000");
    written = has_learnt(report);
    CHECK(written || report.reason.starts_with("learning: "), report.reason);
    was_read = has_learnt(read(world, path, "auto:learn=1000"));
  }
  CHECK(written && was_read, "nothing was learnt");
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  world.folder();
  for (const char* transport : {"independent", "independent:io=mmap", "mpiio:coordination=independent", "mpiio",
                                "two_phase:neighbours=messages"})
    try_transport(world, transport);
  estimate_plans(world);
  learn_plans(world);
  return world.finish("wisdom");
}
