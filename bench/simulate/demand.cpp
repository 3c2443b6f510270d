// Demand: two_phase and textbook two-phase are counted by bench/count; the others by the runs of their ranks.
#include "bench/simulate/demand.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>

#include "bench/count/costs.hpp"
#include "bench/simulate/library.hpp"
#include "core/methods/methods.hpp"
#include "core/plan/plan.hpp"

namespace penstock::bench {

namespace {

constexpr int most_counted = 256;
constexpr std::string_view number_hints[] = {"cb_nodes", "cb_buffer_size", "striping_factor"};
constexpr double one_call = 8 << 20;  // of contiguous bytes, where the method says nothing else

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

struct Counted {
  const SimulatedJob& job;
  const Machine& machine;
  const Plan& plan;
  VirtualJob ranks;
  const Workload& workload;
  // A call of MPI-IO may move data of several datasets.
  bool merges() const {
    return plan.engine.empty() && plan.transport == "mpiio" && plan.settings.word("puts") != "apart";
  }
};

// What the ranks' contiguous runs in the file are, for all ranks.
struct Runs {
  double calls = 0;
  Touched touched;
  double sieved = 0;  // bytes in windows of data sieving
  double windows = 0;
  bool gaps = false;         // between the runs of a rank and dataset
  bool interleaved = false;  // a rank's first byte of all datasets lies before the last of the rank before
};

int64_t sieve_window(bool write) { return write ? 512 << 10 : 4 << 20; }

double largest_call(const SimulatedJob& job) {
  return job.what.workload_name == "ior" ? static_cast<double>(job.what.request.ior.transfer_bytes) : one_call;
}

class RunCount {
 public:
  // Libraries put their header in front of the data, and do not align it.
  explicit RunCount(const Counted& counted)
      : machine_(counted.machine),
        call_(static_cast<int64_t>(largest_call(counted.job))),
        shift_(counted.plan.engine.empty() ? 0 : 2048),
        window_(sieve_window(counted.job.write)) {}

  void next_rank() {
    if (begin_ < end_) {
      runs.interleaved = runs.interleaved || begin_ < end_before_;
      end_before_ = end_;
    }
    begin_ = std::numeric_limits<int64_t>::max();
    end_ = 0;
  }

  void add(int64_t begin, int64_t end) {
    if (begin == end) return;
    begin += shift_;
    end += shift_;
    begin_ = std::min(begin_, begin);
    end_ = std::max(end_, end);
    runs.calls += static_cast<double>((end - begin + call_ - 1) / call_);
    runs.touched.add(begin, end, machine_);
    sieve(begin, end);
  }

  void add(const penstock::Piece& piece) {
    window_end_ = -1;
    last_ = last_address(piece) + shift_;
    SliceCursor cursor(piece, first_address(piece), last_address(piece));
    int64_t begin = 0, end = 0;
    for (Slice slice; cursor.next(slice);) {
      if (slice.address != end) {
        runs.gaps = runs.gaps || end != 0;
        add(begin, end);
        begin = end = slice.address;
      }
      end += slice.bytes;
    }
    add(begin, end);
  }

  Runs runs;

 private:
  // As ROMIO does (ADIOI_GEN_WriteStrided): a window begins at the first byte that is not in the one before.
  void sieve(int64_t begin, int64_t end) {
    for (int64_t at = std::max(begin, window_end_); at < end; at = window_end_) {
      window_end_ = std::min(at + window_, std::max(last_, end));
      runs.sieved += static_cast<double>(window_end_ - at);
      ++runs.windows;
    }
  }

  const Machine& machine_;
  int64_t call_, shift_, window_;
  int64_t window_end_ = -1, last_ = 0;                                              // of a piece
  int64_t begin_ = std::numeric_limits<int64_t>::max(), end_ = 0, end_before_ = 0;  // of a rank
};

Result<Runs> runs_of(const Counted& c) {
  RunCount count(c);
  for (const int rank : c.ranks.counted()) {
    PENSTOCK_ASSIGN(const std::vector<penstock::Piece> pieces, c.ranks.pieces(rank));
    for (const penstock::Piece& piece : pieces) {
      if (piece.selection.count() == 0) continue;
      if (c.plan.placement == "rank_order")  // each rank's part of a dataset is contiguous
        count.add(first_address(piece), first_address(piece) + piece.selection.count() * piece.element_bytes);
      else
        count.add(piece);
    }
    count.next_rank();
  }
  Runs runs = count.runs;
  for (double* sum :
       {&runs.calls, &runs.touched.bytes, &runs.touched.partial, &runs.touched.blocks, &runs.sieved, &runs.windows})
    *sum = c.ranks.of_all(*sum);
  return runs;
}

// A hint that is a whole number, as check_hints made sure; OTHERWISE if it is not set.
int64_t number(const Counted& c, const char* name, int64_t otherwise) {
  const auto hint = c.plan.hints.find(name);
  return hint == c.plan.hints.end() ? otherwise : whole_number(hint->second).value_or(otherwise);
}

// The targets of one file: as the plan says, or a hint, or the machine.
int64_t striped_over(const Counted& c) {
  int64_t count = c.plan.settings.all().contains("stripe_count") ? c.plan.settings.integer("stripe_count") : 0;
  count = number(c, "striping_factor", count);
  if (count == 0) count = c.machine.stripe_count;
  return count <= 0 ? c.machine.targets : std::min(count, c.machine.targets);
}

Demand base_of(const Counted& c) {
  Demand d;
  d.ranks = c.job.ranks;
  d.nodes = c.ranks.nodes();
  d.bytes = d.file_bytes = static_cast<double>(c.ranks.bytes());
  d.targets = striped_over(c);
  return d;
}

// WRITERS ranks call the file system, on as many nodes as possible.
void set_writers(Demand& d, int64_t writers) {
  d.movers = std::clamp<int64_t>(writers, 1, d.nodes);
  d.streams = static_cast<double>(std::max<int64_t>(1, writers)) / static_cast<double>(d.movers);
}

// Where each node moves its own ranks' data; of many nodes, among those that are counted.
Result<double> busiest_node(const Counted& c) {
  std::vector<int64_t> bytes;
  for (const int node : c.ranks.counted_nodes()) {
    bytes.push_back(0);
    for (const int rank : c.ranks.ranks_of(node)) {
      PENSTOCK_ASSIGN(const std::vector<penstock::Piece> pieces, c.ranks.pieces(rank));
      for (const penstock::Piece& piece : pieces) bytes.back() += piece.selection.count() * piece.element_bytes;
    }
  }
  return busiest_of(bytes);
}

// Where each node moves the domains of its writers.
double busiest_node(const Counted& c, const Domains& domains) {
  std::vector<int64_t> bytes(static_cast<size_t>(c.ranks.nodes()));
  for (int w = 0; w < domains.writers; ++w)
    bytes[static_cast<size_t>(c.ranks.node_of(domains.rank_of(w)))] += domains.domain_of(w).bytes();
  return busiest_of(bytes);
}

Result<Demand> two_phase(const Counted& c) {
  PENSTOCK_ASSIGN(const Costs costs, count_two_phase(c.ranks, c.plan.settings, c.machine.block));
  PENSTOCK_ASSIGN(const Domains domains, domains_of(c.ranks, c.plan.settings));
  Demand d = base_of(c);
  set_writers(d, domains.writers);
  d.busiest = busiest_node(c, domains);
  d.calls = static_cast<double>(domains.writers * domains.rounds());
  d.far_bytes = std::min(d.bytes, static_cast<double>(costs.far_bytes));
  d.messages = costs.far_messages.mean * d.ranks;
  d.senders = static_cast<double>(d.nodes * std::min<int64_t>(c.job.ranks_per_node, most_candidates));
  d.copied_bytes = static_cast<double>(costs.near_bytes) + d.far_bytes;
  d.gathered_bytes = d.far_bytes;
  d.creates = c.job.write ? 1 : 0;
  d.opens = static_cast<double>(domains.writers);
  d.rounds = 5;  // reductions of a commit (docs/decisions/0042)
  d.overlaps = true;
  d.lock_grants = d.nodes > 1 ? d.bytes / static_cast<double>(c.machine.block) : 0;
  return d;
}

// With gaps, ROMIO reads, and writes, whole windows with all that lies in them. Before 2008 it did so for calls without
// gaps too, if the file view has some (ADIOI_GEN_WriteStrided until revision 958 of MPICH).
enum class Sieving : uint8_t { never, gaps, views };

Result<Demand> independent(const Counted& c, Sieving sieving) {
  PENSTOCK_ASSIGN(const Runs runs, runs_of(c));
  Demand d = base_of(c);
  set_writers(d, d.ranks);
  PENSTOCK_ASSIGN(d.busiest, busiest_node(c));
  d.calls = runs.calls;
  d.creates = c.job.write ? 1 : 0;
  d.opens = d.ranks;
  d.rounds = 1;
  if (sieving != Sieving::never && runs.gaps && c.job.what.workload_name != "ior") {  // IOR's calls are contiguous
    d.file_bytes = (c.job.write ? 2 : 1) * runs.sieved;
    d.calls = (c.job.write ? 2 : 1) * runs.windows;
    (c.job.write ? d.lock_moves : d.lock_grants) = runs.windows;
  } else {
    set_touched(d, runs.touched, c.machine, c.job.write);
    if (sieving == Sieving::views) {
      d.calls *= (c.job.write ? 2 : 1) *
                 std::max(1.0, std::ceil(d.bytes / d.calls / static_cast<double>(sieve_window(c.job.write))));
      if (c.job.write) d.file_bytes += d.bytes;
    }
  }
  if (d.nodes == 1) d.lock_moves = d.lock_grants = 0;
  return d;
}

// What of the file each collective call moves, in two phases.
struct Collectives {
  double rounds = 0;    // of all calls, with ROUND_BYTES for each aggregator
  double meetings = 0;  // of domains of two aggregators, inside a block
};

// The aggregators divide each call's part of the file anew.
Collectives collectives_of(const Counted& c, int64_t aggregators, int64_t round_bytes) {
  Collectives sum;
  int64_t begin = 0;
  const auto add = [&](int64_t bytes) {
    if (bytes == 0) return;
    const int64_t block = c.machine.block;
    int64_t share = (bytes + aggregators - 1) / aggregators;
    if (c.machine.whole_blocks) share = (share + block - 1) / block * block;
    sum.rounds += static_cast<double>((share + round_bytes - 1) / round_bytes);
    if (begin > 0 && begin % block != 0) ++sum.meetings;
    if (!c.machine.whole_blocks)
      for (int64_t at = begin + share; at < begin + bytes; at += share) sum.meetings += at % block != 0;
    begin += bytes;
  };
  if (c.merges()) {
    add(c.ranks.bytes());
  } else {
    for (const Field& field : c.workload.fields()) add(field.elements * bytes(field.type));
  }
  return sum;
}

// ROMIO's: one on each node, or as many for each I/O node of a Blue Gene.
int64_t aggregators(const Counted& c, int64_t nodes) {
  const Machine& m = c.machine;
  const int64_t count = m.aggregators > 0 ? (nodes + m.forwarded_nodes - 1) / m.forwarded_nodes * m.aggregators : nodes;
  return number(c, "cb_nodes", std::min<int64_t>(count, c.job.ranks));
}

Result<Demand> collective(const Counted& c) {
  const int64_t round_bytes = number(c, "cb_buffer_size", 16 << 20);
  PENSTOCK_ASSIGN(const Costs costs, count_textbook(c.ranks, true, c.machine.block));
  Demand d = base_of(c);
  const int64_t writers = aggregators(c, d.nodes);
  set_writers(d, writers);
  const Collectives calls = collectives_of(c, writers, round_bytes);
  d.far_bytes = std::min(d.bytes, static_cast<double>(costs.far_bytes));
  d.messages = costs.messages.mean * d.ranks;
  d.senders = d.ranks;
  d.copied_bytes = d.gathered_bytes = d.bytes;
  d.creates = c.job.write ? 1 : 0;
  d.opens = d.ranks;
  d.rounds = calls.rounds;
  d.in_step = true;
  d.calls = d.rounds * static_cast<double>(writers);
  if (d.nodes > 1) {
    d.lock_moves = c.job.write ? calls.meetings : 0;
    d.lock_grants = d.bytes / static_cast<double>(c.machine.block);
  }
  return d;
}

Result<Demand> separate_files(const Counted& c) {
  Demand d = base_of(c);
  set_writers(d, d.ranks);
  PENSTOCK_ASSIGN(d.busiest, busiest_node(c));
  d.calls = d.ranks * std::max(1.0, d.bytes / d.ranks / largest_call(c.job));
  d.creates = c.job.write ? d.ranks : 0;
  d.opens = c.job.write ? 0 : d.ranks;
  d.targets = c.machine.targets;
  return d;
}

// A hint of ROMIO, "cb" or "ds"; "" if it is not set.
std::string_view hint_of(const Counted& c, std::string_view name) {
  const auto hint = c.plan.hints.find(fmt::format("romio_{}_{}", name, c.job.write ? "write" : "read"));
  return hint == c.plan.hints.end() ? std::string_view() : hint->second;
}

// If automatic, ROMIO buffers only what the ranks interleave; to know it, they wait for each other in each call.
Result<Demand> of_mpiio(const Counted& c, bool together, bool typed) {
  const std::string_view buffers = hint_of(c, "cb");
  const bool sieves = typed && hint_of(c, "ds") != "disable";
  const bool views = sieves && c.plan.engine.empty() && c.plan.settings.word("positioning") == "individual" &&
                     c.machine.romio_year > 0 && c.machine.romio_year < 2008;
  const Sieving sieving = views ? Sieving::views : sieves ? Sieving::gaps : Sieving::never;
  if (!together || !typed || buffers == "disable") return independent(c, sieving);
  if (buffers == "enable" || (buffers.empty() && c.machine.buffers_always)) return collective(c);
  PENSTOCK_ASSIGN(const Runs runs, runs_of(c));
  if ((runs.gaps && c.job.what.workload_name != "ior") || (c.merges() && runs.interleaved)) return collective(c);
  PENSTOCK_ASSIGN(Demand d, independent(c, sieving));
  d.rounds = std::max(1.0, d.calls / static_cast<double>(d.ranks));
  d.in_step = true;
  return d;
}

Result<Demand> of_plan(const Counted& c, const std::string& label) {
  const Plan& plan = c.plan;
  const int64_t datasets = std::ssize(c.workload.fields());
  if (plan.engine == "phdf5") {
    PENSTOCK_ASSIGN(Demand d, of_mpiio(c, plan.settings.boolean("collective"), true));
    add_hdf5(d, datasets, c.job.write);
    return d;
  }
  if (plan.engine == "pnetcdf") {
    const bool apart = plan.settings.word("mode") == "independent";
    PENSTOCK_ASSIGN(Demand d, of_mpiio(c, !apart, true));
    add_pnetcdf(d, apart, c.machine);
    return d;
  }
  if (plan.placement == "per_rank") return separate_files(c);
  if (plan.engine.empty() && (plan.placement == "single" || plan.placement == "rank_order")) {
    if (plan.transport == "two_phase" && plan.placement == "single") return two_phase(c);
    if (plan.transport == "independent") return independent(c, Sieving::never);
    if (plan.transport == "mpiio") {
      const Settings& settings = plan.settings;
      const std::string_view level = settings.word("level");
      const bool together =
          level == "none" ? settings.word("coordination") == "collective" : level == "1" || level == "3";
      const bool typed = level == "none" ? settings.word("request") == "datatype" : level == "2" || level == "3";
      PENSTOCK_ASSIGN(Demand d, of_mpiio(c, together, typed));
      if (settings.word("positioning") == "shared" && d.nodes > 1)  // each moves the lock of the pointer
        d.lock_moves += together ? d.ranks * static_cast<double>(datasets) : d.calls;
      return d;
    }
  }
  return Status(Code::unsupported,
                fmt::format("'{}' cannot be simulated: it knows FORMAT/two_phase, independent, mpiio, per_process and "
                            "gather, and the engines phdf5 and pnetcdf",
                            label));
}

// Hints that change nothing here would make a comparison that says nothing.
Status check_hints(const Plan& plan, const std::string& label) {
  for (const auto& [name, value] : plan.hints) {
    const bool chosen = name.starts_with("romio_cb_") || name.starts_with("romio_ds_");
    if (chosen && value != "enable" && value != "disable" && value != "automatic")
      return invalid(fmt::format("method '{}': {} is enable, disable or automatic", label, name));
    const bool counts = std::ranges::find(number_hints, name) != std::end(number_hints);
    if (counts && whole_number(value).value_or(0) < 1)
      return invalid(fmt::format("method '{}': {} is a whole number over 0", label, name));
    if (!chosen && !counts)
      return Status(Code::unsupported,
                    fmt::format("method '{}': the hint {} is not simulated: leave it out", label, name));
  }
  return {};
}

}  // namespace

double busiest_of(const std::vector<int64_t>& bytes) {
  int64_t most = 0, all = 0, movers = 0;
  for (const int64_t its : bytes) {
    most = std::max(most, its);
    all += its;
    movers += its > 0;
  }
  return all == 0 ? 1 : static_cast<double>(most) * static_cast<double>(movers) / static_cast<double>(all);
}

void Touched::add(int64_t begin, int64_t end, const Machine& machine) {
  // How many units of SIZE are covered in whole and in part.
  const auto covered = [&](int64_t size) {
    const int64_t all = (end - 1) / size - begin / size + 1;
    const int64_t whole = std::max<int64_t>(0, end / size - (begin + size - 1) / size);
    return std::pair(whole, all - whole);
  };
  const auto [whole_writes, partial_writes] = covered(machine.smallest);
  const auto [whole_blocks, partial_blocks] = covered(machine.block);
  bytes += static_cast<double>((whole_writes + 2 * partial_writes) * machine.smallest);
  partial += static_cast<double>(partial_blocks);
  blocks += static_cast<double>(whole_blocks + partial_blocks);
}

void set_touched(Demand& d, const Touched& touched, const Machine& machine, bool write) {
  d.file_bytes = std::max(d.bytes, write ? touched.bytes : d.calls * static_cast<double>(machine.smallest));
  d.lock_moves = write ? touched.partial : 0;
  d.lock_grants = touched.blocks - d.lock_moves;
}

Result<std::shared_ptr<const Workload>> workload_of(const SimulatedJob& job) {
  if (job.what.workload != nullptr) return job.what.workload;
  WorkloadRequest words = job.what.request;
  words.ranks = job.ranks;
  words.ranks_per_node = job.ranks_per_node;
  PENSTOCK_ASSIGN(std::shared_ptr<const Workload> made, make_workload(job.what.workload_name, words));
  return made;
}

Result<Demand> demand_of(const SimulatedJob& job, const Method& method, const Machine& machine) {
  if (method.reference)
    return Status(Code::unsupported, fmt::format("'{}' cannot be simulated: it has no plan", method.label));
  const std::string block = fmt::format(",block={}", machine.block);
  PENSTOCK_ASSIGN(Plan plan, parse_plan(method.plan, "raw", vocabulary()));
  PENSTOCK_TRY(check_hints(plan, method.label));
  const bool ours = plan.engine.empty() && plan.transport == "two_phase";
  if (ours && method.plan.find("block=") == std::string::npos) {
    PENSTOCK_ASSIGN(plan, parse_plan(method.plan + block, "raw", vocabulary()));
  }
  PENSTOCK_ASSIGN(const std::shared_ptr<const Workload> workload, workload_of(job));
  const Format& format = *find_format(plan.format.empty() ? "hdf5" : plan.format);
  PENSTOCK_ASSIGN(VirtualJob ranks,
                  VirtualJob::make(*workload, format,
                                   {job.ranks, job.ranks_per_node,
                                    ours ? plan.settings.integer("block") : machine.block, most_counted}));
  return of_plan({job, machine, plan, std::move(ranks), *workload}, method.label);
}

}  // namespace penstock::bench
