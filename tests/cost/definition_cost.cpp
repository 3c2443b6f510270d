// What a commit costs for each dataset that it defines: each rank's own work, apart from waiting for the others.
//
//   definition_cost DATASETS [ATTRIBUTES [ELEMENTS [REPEATS [PLAN [PATH]]]]]
//
// Each of DATASETS has ATTRIBUTES attributes and ELEMENTS doubles for each rank. Prints microseconds per dataset, of
// the fastest of REPEATS rounds. Rows that say elapsed are elapsed time, the others processor time outside collective
// calls, so that ranks may outnumber cores. No test: nothing is judged by time.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "tests/harness/world.hpp"
#include "tests/harness/wrapped_communicator.hpp"

namespace penstock {
namespace {

struct Options {
  int64_t datasets = 400, attributes = 3, elements = 16, repeats = 5;
  std::string plan = "hdf5/two_phase:durability=none", path = "/dev/shm/definition_cost.h5";
};

enum Row { put, attribute, define, define_elapsed, commit_elapsed, open, list, get, change, row_count };
constexpr const char* row_names[row_count] = {
    "put",  "set attributes", "define",      "define, elapsed", "commit, elapsed",
    "open", "list",           "get, commit", "change one"};

// Processor seconds outside the collective calls of COMM since BEGIN, for SECONDS of elapsed time.
double own_seconds(const WrappedCommunicator& comm, const Moment& begin, double seconds) {
  const double until = begin.wall + seconds;
  double own = 0;
  Moment last = begin;
  const auto add_gap = [&](const Moment& next) {
    const double share = next.wall <= until ? 1 : std::max(0.0, (until - last.wall) / (next.wall - last.wall));
    own += share * (next.processor - last.processor);
  };
  for (const WrappedCommunicator::Call& call : comm.calls()) {
    add_gap(call.begin);
    last = call.end;
  }
  add_gap(Moment());
  return own;
}

Status write_once(const std::shared_ptr<WrappedCommunicator>& comm, const Options& o, std::vector<double>& seconds) {
  const Dims shape{o.elements * comm->size()};
  PENSTOCK_ASSIGN(const auto part, Decomposition::block(shape, Dims{o.elements * comm->rank()}, Dims{o.elements}));
  const std::vector<double> values(static_cast<size_t>(o.elements), 1.5);
  PENSTOCK_ASSIGN(File file, File::create(comm, o.path, o.plan));
  double from = processor_seconds();
  for (int64_t i = 0; i < o.datasets; ++i)
    PENSTOCK_TRY(file.put(fmt::format("level{}/field{:05d}", i % 10, i), {Kind::f64}, part, values.data()));
  seconds[put] = processor_seconds() - from;
  from = processor_seconds();
  for (int64_t i = 0; i < o.datasets; ++i)
    for (int64_t a = 0; a < o.attributes; ++a)
      PENSTOCK_TRY(file.set_attribute(fmt::format("level{}/field{:05d}", i % 10, i),
                                      text_attribute(fmt::format("attribute{}", a), fmt::format("value {}", i))));
  seconds[attribute] = processor_seconds() - from;
  PENSTOCK_TRY(comm->barrier());
  comm->forget();
  const Moment begin;
  PENSTOCK_TRY(file.commit());
  seconds[commit_elapsed] = now() - begin.wall;
  seconds[define_elapsed] = file.report().phases[Phase::define];
  // The first call is the agreement on what there is to do, before the phase begins.
  seconds[define] = own_seconds(*comm, begin, comm->calls()[0].end.wall - begin.wall + seconds[define_elapsed]);
  return file.close();
}

Status read_once(const std::shared_ptr<WrappedCommunicator>& comm, const Options& o, std::vector<double>& seconds) {
  const Dims shape{o.elements * comm->size()};
  PENSTOCK_ASSIGN(const auto part, Decomposition::block(shape, Dims{o.elements * comm->rank()}, Dims{o.elements}));
  std::vector<double> values(static_cast<size_t>(o.elements * o.datasets));
  comm->forget();
  const Moment begin;
  PENSTOCK_ASSIGN(File file, File::open(comm, o.path));
  seconds[open] = own_seconds(*comm, begin, now() - begin.wall);
  double from = processor_seconds();
  size_t attributes = 0;
  const auto all = file.datasets();
  for (const DatasetInfo& dataset : all) attributes += file.attributes(dataset.name).size();
  seconds[list] = processor_seconds() - from;
  if (attributes != static_cast<size_t>(o.datasets * o.attributes)) return {Code::internal, "attributes are missing"};
  comm->forget();
  const Moment asked;
  for (size_t i = 0; i < all.size(); ++i)
    PENSTOCK_TRY(file.get(all[i].name, {Kind::f64}, part, values.data() + i * static_cast<size_t>(o.elements)));
  PENSTOCK_TRY(file.commit());
  seconds[get] = own_seconds(*comm, asked, now() - asked.wall);
  for (const double value : values)
    if (value != 1.5) return {Code::internal, "other values were read than written"};
  return file.close();
}

// One dataset anew in a file that keeps all others.
Status change_once(const std::shared_ptr<WrappedCommunicator>& comm, const Options& o, std::vector<double>& seconds) {
  comm->forget();
  const Moment begin;
  PENSTOCK_ASSIGN(File file, File::reopen(comm, o.path, o.plan));
  const double value = 2;
  PENSTOCK_ASSIGN(const auto part, Decomposition::ragged(1, {}));
  PENSTOCK_TRY(file.put("new", {Kind::f64}, part, &value));
  const Status status = file.close();
  if (status.code() == Code::unsupported) return {};  // a set of files is written anew
  PENSTOCK_TRY(status);
  seconds[change] = own_seconds(*comm, begin, now() - begin.wall);
  return {};
}

Status measure(const Communicator& world, const Options& o) {
  const auto comm = std::make_shared<WrappedCommunicator>(world);
  std::vector<double> best(row_count, 1e30);
  for (int64_t r = 0; r < o.repeats; ++r) {
    std::vector<double> seconds(row_count);
    PENSTOCK_TRY(write_once(comm, o, seconds));
    PENSTOCK_TRY(read_once(comm, o, seconds));
    PENSTOCK_TRY(change_once(comm, o, seconds));
    for (size_t i = 0; i < seconds.size(); ++i) best[i] = std::min(best[i], seconds[i]);
  }
  std::vector<int64_t> others;  // picoseconds: the slowest of them
  for (const double s : best) others.push_back(world->rank() == 0 ? 0 : static_cast<int64_t>(s * 1e12));
  PENSTOCK_TRY(world->all_reduce_max(others));
  if (world->rank() != 0) return {};
  std::remove(o.path.c_str());
  fmt::print("{} datasets, {} attributes each, {} ranks, {}: microseconds per dataset\n", o.datasets, o.attributes,
             world->size(), o.plan);
  fmt::print("{:16}{:>10}{:>20}\n", "", "rank 0", "slowest of others");
  for (size_t i = 0; i < best.size(); ++i)
    fmt::print("{:16}{:10.2f}{:20.2f}\n", row_names[i], best[i] * 1e6 / static_cast<double>(o.datasets),
               static_cast<double>(others[i]) * 1e-6 / static_cast<double>(o.datasets));
  return {};
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  penstock::Options o;
  int64_t* const numbers[] = {&o.datasets, &o.attributes, &o.elements, &o.repeats};
  for (int i = 1; i < argc && i <= 4; ++i) *numbers[i - 1] = std::atoll(argv[i]);
  if (argc > 5) o.plan = argv[5];
  if (argc > 6) o.path = argv[6];
  penstock::test::World world(&argc, &argv);
  const penstock::Status status = penstock::measure(world.comm(), o);
  if (!status.ok()) fmt::print(stderr, "{}\n", status.message());
  return status.ok() ? 0 : 1;
}
