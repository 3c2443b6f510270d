// Demand: two_phase and textbook two-phase are counted by bench/count; the others by the runs of their ranks.
#include "bench/simulate/demand.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <optional>

#include "bench/count/costs.hpp"
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
  int64_t datasets = 1;
};

// What the ranks' contiguous runs in the file are, for all ranks.
struct Runs {
  double calls = 0;
  Touched touched;
  double sieved = 0;  // bytes in windows of data sieving
  double windows = 0;
  bool gaps = false;  // between the runs of a rank and dataset
};

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
        window_(counted.job.write ? 512 << 10 : 4 << 20) {}

  void add(int64_t begin, int64_t end) {
    if (begin == end) return;
    begin += shift_;
    end += shift_;
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
  int64_t window_end_ = -1, last_ = 0;  // of a piece
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

Result<Demand> two_phase(const Counted& c) {
  PENSTOCK_ASSIGN(const Costs costs, count_two_phase(c.ranks, c.plan.settings, c.machine.block));
  PENSTOCK_ASSIGN(const Domains domains, domains_of(c.ranks, c.plan.settings));
  Demand d = base_of(c);
  set_writers(d, domains.writers);
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

// SIEVED: with gaps, ROMIO reads, and writes, whole windows with all that lies in them.
Result<Demand> independent(const Counted& c, bool sieved) {
  PENSTOCK_ASSIGN(const Runs runs, runs_of(c));
  Demand d = base_of(c);
  set_writers(d, d.ranks);
  d.calls = runs.calls;
  d.creates = c.job.write ? 1 : 0;
  d.opens = d.ranks;
  d.rounds = 1;
  if (sieved && runs.gaps && c.job.what.workload_name != "ior") {  // IOR's calls are contiguous
    d.file_bytes = (c.job.write ? 2 : 1) * runs.sieved;
    d.calls = (c.job.write ? 2 : 1) * runs.windows;
    (c.job.write ? d.lock_moves : d.lock_grants) = runs.windows;
  } else {
    set_touched(d, runs.touched, c.machine, c.job.write);
  }
  if (d.nodes == 1) d.lock_moves = d.lock_grants = 0;
  return d;
}

// One aggregator on each node, as ROMIO does. Calls cannot be joined over CALLS datasets.
Result<Demand> collective(const Counted& c, int64_t calls) {
  const auto round_bytes = static_cast<double>(number(c, "cb_buffer_size", 16 << 20));
  PENSTOCK_ASSIGN(const Costs costs, count_textbook(c.ranks, true, c.machine.block));
  Demand d = base_of(c);
  set_writers(d, number(c, "cb_nodes", d.nodes));
  d.far_bytes = std::min(d.bytes, static_cast<double>(costs.far_bytes));
  d.messages = costs.messages.mean * d.ranks;
  d.senders = d.ranks;
  d.copied_bytes = d.gathered_bytes = d.bytes;
  d.creates = c.job.write ? 1 : 0;
  d.opens = d.ranks;
  d.rounds = std::max(static_cast<double>(calls), d.bytes / static_cast<double>(d.movers) / round_bytes);
  d.calls = d.rounds * static_cast<double>(d.movers);
  if (d.nodes > 1) {
    d.lock_moves = c.job.write ? static_cast<double>(d.movers) : 0;  // where domains meet
    d.lock_grants = d.bytes / static_cast<double>(c.machine.block);
  }
  return d;
}

Demand separate_files(const Counted& c) {
  Demand d = base_of(c);
  set_writers(d, d.ranks);
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

// If automatic, ROMIO buffers only what the ranks interleave.
Result<Demand> of_mpiio(const Counted& c, bool together, bool typed) {
  const std::string_view buffers = hint_of(c, "cb");
  const bool apart = !c.plan.engine.empty() || c.plan.settings.word("puts") == "apart";
  const int64_t calls = apart ? c.datasets : 1;
  if (together && typed && buffers != "disable") {
    if (buffers == "enable" || (buffers.empty() && c.machine.buffers_always)) return collective(c, calls);
    PENSTOCK_ASSIGN(const Runs runs, runs_of(c));
    if (runs.gaps && c.job.what.workload_name != "ior") return collective(c, calls);
  }
  return independent(c, typed && hint_of(c, "ds") != "disable");
}

// A library's own calls: rank 0 writes or reads a header and what describes each dataset, and all wait for it.
void add_header(Demand& d, const Counted& c) {
  d.turns += 3.0 * static_cast<double>(c.datasets) * (c.machine.call_seconds / c.machine.message_seconds);
}

Result<Demand> of_plan(const Counted& c, const std::string& label) {
  const Plan& plan = c.plan;
  if (plan.engine == "phdf5") {
    PENSTOCK_ASSIGN(Demand d, of_mpiio(c, plan.settings.boolean("collective"), true));
    add_header(d, c);
    return d;
  }
  if (plan.engine == "pnetcdf") {
    PENSTOCK_ASSIGN(Demand d, of_mpiio(c, plan.settings.word("mode") != "independent", true));
    add_header(d, c);
    return d;
  }
  if (plan.placement == "per_rank") return separate_files(c);
  if (plan.engine.empty() && (plan.placement == "single" || plan.placement == "rank_order")) {
    if (plan.transport == "two_phase" && plan.placement == "single") return two_phase(c);
    if (plan.transport == "independent") return independent(c, false);
    if (plan.transport == "mpiio") {
      const Settings& settings = plan.settings;
      const std::string_view level = settings.word("level");
      const bool together =
          level == "none" ? settings.word("coordination") == "collective" : level == "1" || level == "3";
      const bool typed = level == "none" ? settings.word("request") == "datatype" : level == "2" || level == "3";
      PENSTOCK_ASSIGN(Demand d, of_mpiio(c, together, typed));
      if (settings.word("positioning") == "shared" && d.nodes > 1)  // each moves the lock of the pointer
        d.lock_moves += together ? d.ranks * static_cast<double>(c.datasets) : d.calls;
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
  return of_plan({job, machine, plan, std::move(ranks), std::ssize(workload->fields())}, method.label);
}

}  // namespace penstock::bench
