// Recorded: counts a pattern's steps; divides what they touched among the ranks.
#include "bench/simulate/recorded.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace penstock::bench {

namespace {

using RunsOfRanks = std::vector<std::vector<Run>>;

constexpr int64_t most_repeated = 20;  // one in so many bytes may be moved more than once

Act act_of(bool write) { return write ? Act::write : Act::read; }

bool moves(const Step& step, Act act) { return step.act == act && step.length > 0; }

// Consecutive accesses of a rank to a file, which need a lock once.
class Stretches {
 public:
  explicit Stretches(const Machine& machine) : machine_(machine) {}

  void add(const Step& step) {
    auto [at, is_new] = open_.try_emplace(step.file, step.offset, step.offset);
    if (at->second.second != step.offset) end(at->second, step.offset);
    at->second.second = step.offset + step.length;
  }

  void end_all() {
    for (auto& [file, stretch] : open_) end(stretch, 0);
  }

  Touched touched;

 private:
  void end(std::pair<int64_t, int64_t>& stretch, int64_t next) {
    if (stretch.first < stretch.second) touched.add(stretch.first, stretch.second, machine_);
    stretch = {next, next};
  }

  const Machine& machine_;
  std::map<int32_t, std::pair<int64_t, int64_t>> open_;  // by file: begin and end
};

// A part of a file that RANK touched.
struct Part {
  int64_t begin = 0, end = 0;
  int rank = 0;
};

class Data : public Workload {
 public:
  Data(std::vector<Field> fields, std::vector<RunsOfRanks> runs) : fields_(std::move(fields)), runs_(std::move(runs)) {
    number_elements(fields_);
  }

  const std::vector<Field>& fields() const override { return fields_; }
  Result<Decomposition> part(int field, int rank, int) const override {
    const auto at = static_cast<size_t>(field);
    return Decomposition::runs(fields_[at].shape, runs_[at][static_cast<size_t>(rank)]);
  }
  bool read_by_rows() const override { return false; }
  nlohmann::json describe(int) const override { return {{"shape", nullptr}, {"order", "C"}}; }

 private:
  std::vector<Field> fields_;
  std::vector<RunsOfRanks> runs_;  // of each field
};

// The runs of each rank in what PARTS touch, one place after another; what several touch belongs to the first of them.
// Adds what was left out to REPEATED.
RunsOfRanks divided(std::vector<Part> parts, size_t ranks, int64_t& repeated) {
  std::ranges::stable_sort(parts, {}, &Part::begin);
  RunsOfRanks runs(ranks);
  int64_t end = 0, place = 0;
  for (const Part& part : parts) {
    const int64_t begin = std::max(part.begin, end), length = std::max<int64_t>(0, part.end - begin);
    repeated += part.end - part.begin - length;
    if (length == 0) continue;
    std::vector<Run>& own = runs[static_cast<size_t>(part.rank)];
    if (!own.empty() && own.back().offset + own.back().length == place)
      own.back().length += length;
    else
      own.push_back({place, length});
    place += length;
    end = begin + length;
  }
  return runs;
}

}  // namespace

Result<Recorded> read_recorded(const std::string& path) {
  PENSTOCK_ASSIGN(Recorded recorded, read_first_variant(path));
  bool sends = recorded[0].interface != Interface::posix;
  for (const Variant& of_rank : recorded)
    sends = sends || std::ranges::count(of_rank.steps, Act::broadcast, &Step::act) > 0;
  if (sends)
    return Status(
        Code::unsupported,
        fmt::format("{}: its first variant calls MPI; one that only calls the file system can be simulated", path));
  return recorded;
}

Result<Demand> demand_of(const Recorded& recorded, int ranks_per_node, bool write, const Machine& machine) {
  const Act act = act_of(write);
  Demand d;
  d.ranks = std::ssize(recorded);
  d.nodes = (d.ranks + ranks_per_node - 1) / ranks_per_node;
  d.rounds = 1;
  Stretches stretches(machine);
  std::set<int32_t> files;
  std::set<int64_t> ranks;                                      // that call
  std::vector<int64_t> of_nodes(static_cast<size_t>(d.nodes));  // bytes
  for (int64_t rank = 0; rank < d.ranks; ++rank) {
    std::set<int32_t> opened;
    for (const Step& step : recorded[static_cast<size_t>(rank)].steps) {
      if (step.act == Act::open || step.act == Act::stat) ++d.opens;
      if (step.act == Act::open) opened.insert(step.file);
      if (!moves(step, act)) continue;
      if (opened.insert(step.file).second) ++d.opens;
      ++d.calls;
      d.bytes += static_cast<double>(step.length);
      stretches.add(step);
      files.insert(step.file);
      ranks.insert(rank);
      of_nodes[static_cast<size_t>(rank / ranks_per_node)] += step.length;
    }
    stretches.end_all();
  }
  if (d.calls == 0) return invalid(fmt::format("the pattern {} nothing", write ? "writes" : "reads"));
  d.movers = d.nodes - std::ranges::count(of_nodes, 0);
  d.busiest = busiest_of(of_nodes);
  d.streams = static_cast<double>(ranks.size()) / static_cast<double>(d.movers);
  d.creates = write ? static_cast<double>(files.size()) : 0;
  d.targets =
      machine.stripe_count <= 0 ? machine.targets : std::min(machine.targets, machine.stripe_count * std::ssize(files));
  set_touched(d, stretches.touched, machine, write);
  if (d.nodes == 1) d.lock_moves = d.lock_grants = 0;
  return d;
}

Result<std::shared_ptr<const Workload>> data_of(const Recorded& recorded, bool write) {
  std::map<int32_t, std::vector<Part>> files;
  int64_t all = 0, repeated = 0;
  for (size_t rank = 0; rank < recorded.size(); ++rank)
    for (const Step& step : recorded[rank].steps)
      if (moves(step, act_of(write))) {
        files[step.file].push_back({step.offset, step.offset + step.length, static_cast<int>(rank)});
        all += step.length;
      }
  std::vector<Field> fields;
  std::vector<RunsOfRanks> runs;
  for (auto& [file, parts] : files) {
    runs.push_back(divided(std::move(parts), recorded.size(), repeated));
    int64_t bytes = 0;
    for (const std::vector<Run>& own : runs.back())
      for (const Run& run : own) bytes += run.length;
    fields.push_back({fmt::format("file{:06}", file), {bytes}, type_of<uint8_t>()});
  }
  if (repeated > all / most_repeated)
    return Status(
        Code::unsupported,
        fmt::format("{:.0f} % of its bytes are {} more than once, so that other methods cannot be compared",
                    100 * static_cast<double>(repeated) / static_cast<double>(all), write ? "written" : "read"));
  return std::shared_ptr<const Workload>(std::make_shared<Data>(std::move(fields), std::move(runs)));
}

}  // namespace penstock::bench
