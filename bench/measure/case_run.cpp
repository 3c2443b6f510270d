// CaseRun: one write and one read-back at a time, with filling before and verification after.
#include "bench/measure/case_run.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <thread>

#include "bench/measure/competitor.hpp"
#include "bench/measure/reference.hpp"
#include "bench/measure/warm_memory.hpp"
#include "bench/shared_status.hpp"
#include "bench/verify/library.hpp"
#include "bench/verify/verdict.hpp"
#include "core/base/units.hpp"

namespace penstock::bench {

namespace {

constexpr int64_t buffer_alignment = 64;
constexpr double patience_seconds = 5;  // for competitors that cannot write

// A rank's part of a sample, as sent to rank 0.
struct RankSample {
  double seconds = 0;
  PhaseTimes phases;
  Counts counts;
  double copy_seconds = 0, compute_seconds = 0, background_seconds = 0;
};

RankSample summary(const Timing& timing) {
  const Report& r = timing.report;
  return {timing.seconds,
          r.phases,
          {r.bytes, r.file_calls, r.file_bytes, r.metadata_calls, r.messages, r.message_bytes, r.memory_peak,
           timing.resident_growth.value_or(-1), r.writers},
          timing.copy_seconds,
          timing.compute_seconds,
          r.background_seconds};
}

void add(Sample& sample, const RankSample& rank) {
  sample.rank_seconds.push_back(rank.seconds);
  sample.seconds = std::max(sample.seconds, rank.seconds);
  for (size_t p = 0; p < sample.phases.seconds.size(); ++p)
    sample.phases.seconds[p] = std::max(sample.phases.seconds[p], rank.phases.seconds[p]);
  sample.copy_seconds = std::max(sample.copy_seconds, rank.copy_seconds);
  sample.compute_seconds = std::max(sample.compute_seconds, rank.compute_seconds);
  sample.background_seconds = std::max(sample.background_seconds, rank.background_seconds);
  sample.counts.bytes += rank.counts.bytes;
  sample.counts.file_calls += rank.counts.file_calls;
  sample.counts.file_bytes += rank.counts.file_bytes;
  sample.counts.metadata_calls += rank.counts.metadata_calls;
  sample.counts.messages += rank.counts.messages;
  sample.counts.message_bytes += rank.counts.message_bytes;
  sample.counts.memory_peak = std::max(sample.counts.memory_peak, rank.counts.memory_peak);
  sample.counts.resident_growth = std::max(sample.counts.resident_growth, rank.counts.resident_growth);
  sample.counts.writers += rank.counts.writers;
}

int64_t memory_bytes(const Piece& piece, const Workload& workload) {
  return memory_elements(piece.part, piece.ghosts) * bytes(workload.fields()[static_cast<size_t>(piece.field)].type);
}

int64_t pieces_bytes(const Pieces& pieces, const Workload& workload) {
  int64_t sum = 0;
  for (const Piece& piece : pieces) {
    const int64_t length = round_up(memory_bytes(piece, workload), buffer_alignment);
    sum = workload.in_one_buffer() ? std::max(sum, length) : sum + length;
  }
  return sum;
}

void bind(Pieces& pieces, const Workload& workload, std::span<std::byte> memory) {
  size_t at = 0;
  for (Piece& piece : pieces) {
    const int64_t length = memory_bytes(piece, workload);
    piece.bytes = memory.subspan(at, static_cast<size_t>(length));
    if (!workload.in_one_buffer()) at += static_cast<size_t>(round_up(length, buffer_alignment));
  }
}

}  // namespace

CaseRun::CaseRun(const Case& what, const Surroundings& surroundings, size_t first_folder)
    : case_(what), surroundings_(surroundings), ranks_(surroundings.ranks), first_folder_(first_folder) {
  if (what.own_ranks) ranks_ = {ranks_.all, ranks_.all, ranks_.all->size()};
  results_.writers = ranks_.all->size();
  results_.readers = ranks_.reader_count;
  for (const Method& method : what.methods) results_.outcomes.push_back({.method = method});
}

int CaseRun::fields() const { return static_cast<int>(case_.workload->fields().size()); }

Truth CaseRun::truth(int repetition) const {
  return {case_.workload.get(), surroundings_.seed, repetition, case_.data.get(), {}};
}

Truth CaseRun::truth(const OneRun& run) const {
  Truth made = truth(run.repetition);
  made.bounds = case_.methods[run.method].bounds(*case_.workload);
  return made;
}

Status CaseRun::prepare() {
  const Workload& workload = *case_.workload;
  PENSTOCK_ASSIGN(std::vector<Portion> portions, workload.portions(ranks_.all->rank(), ranks_.all->size()));
  for (Portion& portion : portions) written_.push_back({portion.field, std::move(portion.part), case_.ghosts, {}});
  if (case_.own_ranks) read_ = written_;
  for (int field = 0; field < fields() && ranks_.readers && !case_.own_ranks; ++field) {
    const Slab own = slab(workload, field, ranks_.readers->rank(), ranks_.readers->size());
    PENSTOCK_ASSIGN(Decomposition piece, slab_decomposition(workload, field, own));
    read_.push_back({field, std::move(piece), case_.ghosts, {}});
  }
  return {};
}

Status CaseRun::calibrate() {
  if (case_.compute_seconds == 0) return {};
  if (case_.asleep) {
    compute_ = Compute::asleep(case_.compute_seconds);
    return {};
  }
  PENSTOCK_ASSIGN(compute_, Compute::calibrate(ranks_.all, case_.compute_seconds));
  return {};
}

int64_t CaseRun::memory_bytes() const {
  return std::max(pieces_bytes(written_, *case_.workload), pieces_bytes(read_, *case_.workload));
}

void CaseRun::bind_memory(std::span<std::byte> memory) {
  bind(written_, *case_.workload, memory);
  bind(read_, *case_.workload, memory);
}

Status CaseRun::fill(int repetition) {
  for (const Piece& piece : written_) fill_piece(truth(repetition), piece);
  if (static_cast<int>(results_.expected_digests.size()) > repetition) return {};
  return expect_digest(repetition);
}

std::string CaseRun::title(size_t method) const {
  const std::string& label = case_.methods[method].label;
  return surroundings_.many_cases ? fmt::format("{}: {}", case_.name, label) : label;
}

Status CaseRun::take(const OneRun& run) {
  Outcome& outcome = results_.outcomes[run.method];
  outcome.error = run_once(run);
  if (!outcome.error.ok()) surroundings_.progress->failed(title(run.method), run.repetition, outcome.error);
  if (surroundings_.keep && run.last) return {};
  return surroundings_.scratch->discard(ranks_.all, folder(run));
}

Status CaseRun::run_once(const OneRun& run) {
  const Method& method = case_.methods[run.method];
  const Scratch& scratch = *surroundings_.scratch;
  const TimedFile target{scratch.path(folder(run), "." + method.extension), method.plan, case_.workload.get()};
  PENSTOCK_TRY(scratch.prepare(ranks_.all, folder(run)));
  PENSTOCK_TRY(scratch.settle(ranks_.all));
  PENSTOCK_TRY(warm_memory(ranks_.all, case_.total_bytes()));
  PENSTOCK_TRY(case_.competitors > 0 ? move_beside_competitors(run, target) : move(run, target));
  if (method.reference) return {};
  PENSTOCK_TRY(verify(run));
  // With one buffer only the last piece read is still available for verification.
  const bool by_library = run.repetition == 0 || run.last || case_.workload->in_one_buffer();
  return by_library ? verify_by_library(run, target) : Status();
}

Status CaseRun::move(const OneRun& run, const TimedFile& target) {
  PENSTOCK_TRY(write(run, target));
  return case_.methods[run.method].reference ? Status() : read(run, target);
}

// The first rank of a node starts its competitors. They run before the timing starts.
Status CaseRun::move_beside_competitors(const OneRun& run, const TimedFile& target) {
  const Communicator& all = ranks_.all;
  std::array<int64_t, 2> load{};  // bytes, nanoseconds
  Status status;
  {
    std::optional<Competitor> competitor;
    if (all->node_rank() == 0) competitor.emplace(surroundings_.scratch->folder(), case_.competitors);
    const double start = now();
    while (competitor && competitor->bytes_written() == 0 && now() - start < patience_seconds)
      std::this_thread::yield();
    status = agree(all, all->barrier());
    if (status.ok()) status = move(run, target);
    if (competitor) load = {competitor->bytes_written(), static_cast<int64_t>((now() - start) * 1e9)};
  }
  PENSTOCK_TRY(all->all_reduce_sum(std::span(load).first(1)));
  PENSTOCK_TRY(all->all_reduce_max(std::span(load).last(1)));
  if (run.repetition > 0) {
    results_.competed_bytes += load[0];
    results_.competed_seconds += static_cast<double>(load[1]) / 1e9;
  }
  return status;
}

Result<Timing> CaseRun::time_write(const OneRun& run, const TimedFile& target) const {
  const Method& method = case_.methods[run.method];
  if (method.reference) {
    PENSTOCK_ASSIGN(const Reference reference, parse_reference(method.label));
    return timed_reference(ranks_.all, reference, target.path, truth(run.repetition));
  }
  return case_.compute_seconds > 0 ? timed_background_write(ranks_.all, target, written_, compute_, case_.put)
                                   : timed_write(ranks_.all, target, written_, case_.put);
}

Status CaseRun::write(const OneRun& run, const TimedFile& target) {
  auto timing = time_write(run, target);
  if (!timing) return timing.status().in("writing");
  return record(run, Operation::write, *timing, 0);
}

Status CaseRun::read(const OneRun& run, const TimedFile& target) {
  // Data that an earlier read left in the buffers must not count as the result of this read.
  for (const Piece& piece : read_) std::fill(piece.bytes.begin(), piece.bytes.end(), ghost_byte);
  if (case_.regime == Regime::durable && !case_.warm)
    PENSTOCK_TRY(surroundings_.scratch->drop_cache(ranks_.all, folder(run)));
  PENSTOCK_ASSIGN(const double resident, surroundings_.scratch->resident(ranks_.all, folder(run)));
  auto timing = timed_read(ranks_.all, ranks_.readers, target, read_);
  if (!timing) return timing.status().in("reading back");
  return record(run, Operation::read, *timing, resident);
}

Status CaseRun::record(const OneRun& run, Operation operation, const Timing& timing, double resident) {
  const RankSample own = summary(timing);
  PENSTOCK_ASSIGN(const auto all, ranks_.all->gather(std::as_bytes(std::span(&own, 1)), 0));
  if (ranks_.all->rank() != 0) return {};
  Sample sample;
  sample.resident = resident;
  sample.stored_bytes = surroundings_.scratch->stored_bytes(folder(run));
  for (int rank = 0; rank < (operation == Operation::write ? results_.writers : results_.readers); ++rank) {
    RankSample one;
    std::memcpy(&one, all[static_cast<size_t>(rank)].data(), sizeof one);
    add(sample, one);
  }
  Series& series = results_.outcomes[run.method].series[static_cast<size_t>(operation)];
  series.plan = timing.report.plan;
  series.report = timing.report;
  surroundings_.progress->run(title(run.method), operation, run.repetition, sample.seconds);
  if (run.repetition == 0)
    series.warmup = std::move(sample);
  else
    series.samples.push_back(std::move(sample));
  return {};
}

// The digest required of every method's file, computed by the formula alone.
Status CaseRun::expect_digest(int repetition) {
  std::vector<Digest> own;
  for (int field = 0; !case_.own_ranks && ranks_.readers && field < fields(); ++field)
    own.push_back(expected_digest(truth(repetition), field,
                                  slab(*case_.workload, field, ranks_.readers->rank(), ranks_.readers->size())));
  PENSTOCK_ASSIGN(const Digest joined, join_digests(ranks_.all, own, results_.readers));
  results_.expected_digests.push_back(joined.crc);
  return {};
}

// Every reader verifies its part; rank 0 combines results and digests and sends them to all ranks. The parts of ranks
// that read their own data are not slabs, so their digests cannot be combined: only the elements are compared.
Status CaseRun::verify(const OneRun& run) {
  const Truth expected = truth(run);
  Faults own;
  std::vector<Digest> digests;
  bool whole = true;
  for (const Piece& piece : read_) {
    digests.push_back(check_piece(expected, piece, own));
    whole = whole && (piece.ghosts == 0 || ghosts_are_whole(piece, bytes(expected.field(piece.field).type)));
  }
  PENSTOCK_TRY(agree(ranks_.all, whole ? Status() : Status(Code::damaged, "reading back changed ghost cells")));
  PENSTOCK_ASSIGN(const Faults faults, join_faults(ranks_.all, own));
  if (case_.own_ranks) digests.clear();
  PENSTOCK_ASSIGN(const Digest found, join_digests(ranks_.all, digests, results_.readers));
  return from_root(ranks_.all, ranks_.all->rank() == 0 ? judge(run, faults, found) : Status());
}

Status CaseRun::judge(const OneRun& run, const Faults& faults, const Digest& found) {
  Outcome& outcome = results_.outcomes[run.method];
  const Truth expected = truth(run);
  const uint64_t formula = results_.expected_digests[static_cast<size_t>(run.repetition)];
  if (!case_.own_ranks) outcome.digests.push_back(found.crc);
  if (faults.wrong > 0)
    return Status(Code::damaged, "verification by reading back: " + explain(expected, faults, results_.writers));
  if (!expected.exact())
    outcome.largest.include(faults.largest);
  else if (found.crc != formula)
    return Status(Code::damaged, fmt::format("verification: digest {:016x}, not {:016x}", found.crc, formula));
  ++outcome.checks;
  return {};
}

Status CaseRun::verify_by_library(const OneRun& run, const TimedFile& target) {
  Outcome& outcome = results_.outcomes[run.method];
  const Library* library = find_library(outcome.method.format, outcome.method.extension);
  Status status;
  if (ranks_.all->rank() == 0 && library != nullptr) {
    const Truth expected = truth(run);
    Faults faults;
    outcome.library = library->version();
    status = library->check(target.path, expected, faults).in("verification");
    if (status.ok() && faults.wrong > 0)
      status = Status(Code::damaged, fmt::format("verification by {}: {}", outcome.library,
                                                 explain(expected, faults, results_.writers)));
    if (status.ok()) ++outcome.library_checks;
    if (!expected.exact()) outcome.largest.include(faults.largest);
  }
  return from_root(ranks_.all, status);
}

}  // namespace penstock::bench
