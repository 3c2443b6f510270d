// Campaign: the schedule, and the life of one file.
#include "bench/measure/campaign.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "bench/shared_status.hpp"
#include "bench/verify/library.hpp"
#include "bench/verify/verdict.hpp"

namespace penstock::bench {

namespace {

// By our own shuffle, since that of the standard library differs between implementations.
std::vector<size_t> shuffled(size_t count, uint64_t seed, int repetition) {
  std::seed_seq sequence{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                         static_cast<uint32_t>(repetition)};
  std::mt19937_64 random(sequence);
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

// A rank's part of a sample, as it travels to rank 0.
struct RankSample {
  double seconds = 0;
  PhaseTimes phases;
  Counts counts;
  double copy_seconds = 0, compute_seconds = 0, behind_seconds = 0;
};

RankSample summary(const Timing& timing) {
  const Report& r = timing.report;
  return {timing.seconds,
          r.phases,
          {r.bytes, r.file_calls, r.file_bytes, r.metadata_calls, r.messages, r.message_bytes, r.writers},
          timing.copy_seconds,
          timing.compute_seconds,
          r.behind_seconds};
}

void add(Sample& sample, const RankSample& rank) {
  sample.rank_seconds.push_back(rank.seconds);
  sample.seconds = std::max(sample.seconds, rank.seconds);
  for (size_t p = 0; p < sample.phases.seconds.size(); ++p)
    sample.phases.seconds[p] = std::max(sample.phases.seconds[p], rank.phases.seconds[p]);
  sample.copy_seconds = std::max(sample.copy_seconds, rank.copy_seconds);
  sample.compute_seconds = std::max(sample.compute_seconds, rank.compute_seconds);
  sample.behind_seconds = std::max(sample.behind_seconds, rank.behind_seconds);
  sample.counts.bytes += rank.counts.bytes;
  sample.counts.file_calls += rank.counts.file_calls;
  sample.counts.file_bytes += rank.counts.file_bytes;
  sample.counts.metadata_calls += rank.counts.metadata_calls;
  sample.counts.messages += rank.counts.messages;
  sample.counts.message_bytes += rank.counts.message_bytes;
  sample.counts.writers += rank.counts.writers;
}

}  // namespace

std::string_view name(Operation operation) { return operation == Operation::write ? "write" : "read"; }

bool Results::ok() const {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) { return outcome.verified(); });
}

Result<Ranks> choose_ranks(const Communicator& comm, int wanted) {
  Ranks ranks;
  ranks.all = comm;
  ranks.reader_count = wanted > 0 ? wanted : std::max(1, comm->size() - 1);
  if (ranks.reader_count > comm->size())
    return Status(Code::invalid, fmt::format("--readers {} is more than the {} ranks there are", wanted, comm->size()));
  PENSTOCK_ASSIGN(ranks.readers, comm->split(comm->rank() < ranks.reader_count ? 0 : -1));
  return ranks;
}

Campaign::Campaign(const Options& options, const Workload& workload, const Ranks& ranks, const Scratch& scratch,
                   Progress& progress)
    : options_(options), workload_(workload), ranks_(ranks), scratch_(scratch), progress_(progress) {
  results_.writers = ranks.all->size();
  results_.readers = ranks.reader_count;
  for (const Method& method : options.methods) results_.outcomes.push_back({.method = method});
}

Truth Campaign::truth(int repetition) const { return {&workload_, options_.type, options_.seed, repetition}; }

Status Campaign::prepare() {
  const int64_t size = bytes(options_.type);
  for (int field = 0; field < static_cast<int>(workload_.fields().size()); ++field) {
    PENSTOCK_ASSIGN(Decomposition part, workload_.part(field, ranks_.all->rank(), ranks_.all->size()));
    written_.buffers.emplace_back(static_cast<size_t>(part.elements() * size));
    written_.parts.push_back(std::move(part));
    if (!ranks_.readers) continue;
    const Slab own = slab(workload_, field, ranks_.readers->rank(), ranks_.readers->size());
    PENSTOCK_ASSIGN(Decomposition piece, slab_decomposition(workload_, field, own));
    read_.buffers.emplace_back(static_cast<size_t>((own.end - own.begin) * size));
    read_.parts.push_back(std::move(piece));
  }
  return {};
}

Result<Results> Campaign::run() {
  PENSTOCK_TRY(agree(ranks_.all, prepare()));
  if (options_.compute_seconds > 0) {
    PENSTOCK_ASSIGN(compute_, Compute::calibrate(ranks_.all, options_.compute_seconds));
  }
  progress_.start(static_cast<int>(options_.methods.size()) * (options_.repetitions + 1) * operation_count);
  start_ = now();
  bool last = false;
  for (int repetition = 0; repetition <= options_.repetitions && !last; ++repetition) {
    PENSTOCK_ASSIGN(last, is_last(repetition));
    PENSTOCK_TRY(repeat(repetition, last));
    results_.stopped = last && repetition < options_.repetitions;
  }
  progress_.done();
  return std::move(results_);
}

// Whether no repetition after this one would end before the time limit. Known before it starts, because the last one is
// also verified by the format's own library.
Result<bool> Campaign::is_last(int repetition) const {
  int64_t last = repetition == options_.repetitions;
  if (options_.time_limit_seconds > 0 && repetition > 0) {
    const double elapsed = now() - start_;
    if (elapsed + 2 * elapsed / repetition > options_.time_limit_seconds) last = 1;
  }
  PENSTOCK_TRY(ranks_.all->all_reduce_max(std::span(&last, 1)));
  return last != 0;
}

Status Campaign::repeat(int repetition, bool last) {
  for (size_t i = 0; i < written_.parts.size(); ++i)
    fill_part(truth(repetition), static_cast<int>(i), written_.parts[i], written_.buffers[i]);
  PENSTOCK_TRY(expect_digest(repetition));
  results_.order.push_back(shuffled(options_.methods.size(), options_.seed, repetition));
  for (const size_t method : results_.order.back()) {
    Outcome& outcome = results_.outcomes[method];
    if (!outcome.error.ok()) {
      progress_.skip(operation_count);
      continue;
    }
    outcome.error = take({method, repetition, last});
    if (!outcome.error.ok()) progress_.failed(outcome.method.label, repetition, outcome.error);
    if (!(options_.keep && last)) PENSTOCK_TRY(scratch_.discard(ranks_.all, method));
  }
  return {};
}

Status Campaign::take(const Turn& turn) {
  const Method& method = options_.methods[turn.method];
  const Target target{scratch_.path(turn.method, "." + method.extension), method.plan, &workload_, options_.type};
  PENSTOCK_TRY(scratch_.prepare(ranks_.all, turn.method));
  PENSTOCK_TRY(scratch_.settle(ranks_.all));
  PENSTOCK_TRY(write(turn, target));
  PENSTOCK_TRY(read(turn, target));
  PENSTOCK_TRY(verify(turn));
  return turn.repetition == 0 || turn.last ? verify_by_library(turn, target) : Status();
}

Status Campaign::write(const Turn& turn, const Target& target) {
  auto timing = options_.compute_seconds > 0 ? timed_write_behind(ranks_.all, target, written_, compute_, options_.put)
                                             : timed_write(ranks_.all, target, written_, options_.put);
  if (!timing) return timing.status().in("writing");
  return record(turn, Operation::write, *timing, 0);
}

Status Campaign::read(const Turn& turn, const Target& target) {
  // What an earlier read left in the buffers must not pass for what this one read.
  for (std::vector<std::byte>& buffer : read_.buffers) std::fill(buffer.begin(), buffer.end(), std::byte{0xa5});
  if (options_.regime == Regime::durable) PENSTOCK_TRY(scratch_.drop_cache(ranks_.all, turn.method));
  PENSTOCK_ASSIGN(const double resident, scratch_.resident(ranks_.all, turn.method));
  auto timing = timed_read(ranks_.all, ranks_.readers, target, read_);
  if (!timing) return timing.status().in("reading back");
  return record(turn, Operation::read, *timing, resident);
}

Status Campaign::record(const Turn& turn, Operation operation, const Timing& timing, double resident) {
  const RankSample own = summary(timing);
  PENSTOCK_ASSIGN(const auto all, ranks_.all->gather(std::as_bytes(std::span(&own, 1)), 0));
  if (ranks_.all->rank() != 0) return {};
  Sample sample;
  sample.resident = resident;
  for (int rank = 0; rank < (operation == Operation::write ? results_.writers : results_.readers); ++rank) {
    RankSample one;
    std::memcpy(&one, all[static_cast<size_t>(rank)].data(), sizeof one);
    add(sample, one);
  }
  Outcome& outcome = results_.outcomes[turn.method];
  Series& series = outcome.series[static_cast<size_t>(operation)];
  series.plan = timing.report.plan;
  series.report = timing.report;
  progress_.run(outcome.method.label, operation, turn.repetition, sample.seconds);
  if (turn.repetition == 0)
    series.warmup = std::move(sample);
  else
    series.samples.push_back(std::move(sample));
  return {};
}

// The digest that every method's file must have, from the formula alone.
Status Campaign::expect_digest(int repetition) {
  std::vector<Digest> own;
  for (int field = 0; ranks_.readers && field < static_cast<int>(workload_.fields().size()); ++field)
    own.push_back(expected_digest(truth(repetition), field,
                                  slab(workload_, field, ranks_.readers->rank(), ranks_.readers->size())));
  PENSTOCK_ASSIGN(const Digest joined, join_digests(ranks_.all, own, results_.readers));
  results_.expected_digests.push_back(joined.crc);
  return {};
}

// Every reader judges its slabs; rank 0 joins the verdicts and the digests and tells everybody.
Status Campaign::verify(const Turn& turn) {
  const Truth expected = truth(turn.repetition);
  Faults own;
  std::vector<Digest> digests;
  for (int field = 0; ranks_.readers && field < static_cast<int>(workload_.fields().size()); ++field) {
    const Slab piece = slab(workload_, field, ranks_.readers->rank(), ranks_.readers->size());
    const std::vector<std::byte>& buffer = read_.buffers[static_cast<size_t>(field)];
    check(expected, field, piece.begin, buffer, own);
    digests.push_back(digest(buffer));
  }
  PENSTOCK_ASSIGN(const Faults faults, join_faults(ranks_.all, own));
  PENSTOCK_ASSIGN(const Digest found, join_digests(ranks_.all, digests, results_.readers));
  Status status;
  if (ranks_.all->rank() == 0) {
    Outcome& outcome = results_.outcomes[turn.method];
    const uint64_t formula = results_.expected_digests[static_cast<size_t>(turn.repetition)];
    outcome.digests.push_back(found.crc);
    if (faults.wrong > 0)
      status = Status(Code::damaged, "verification by reading back: " + explain(expected, faults, results_.writers));
    else if (found.crc != formula)
      status = Status(Code::damaged, fmt::format("verification: digest {:016x}, not {:016x}", found.crc, formula));
    else
      ++outcome.checks;
  }
  return from_root(ranks_.all, status);
}

Status Campaign::verify_by_library(const Turn& turn, const Target& target) {
  Outcome& outcome = results_.outcomes[turn.method];
  const Library* library = find_library(outcome.method.format, outcome.method.extension);
  Status status;
  if (ranks_.all->rank() == 0 && library != nullptr) {
    const Truth expected = truth(turn.repetition);
    Faults faults;
    outcome.library = library->version();
    status = library->check(target.path, expected, faults).in("verification");
    if (status.ok() && faults.wrong > 0)
      status = Status(Code::damaged, fmt::format("verification by {}: {}", outcome.library,
                                                 explain(expected, faults, results_.writers)));
    if (status.ok()) ++outcome.library_checks;
  }
  return from_root(ranks_.all, status);
}

}  // namespace penstock::bench
