// Campaign: executes the schedule.
#include "bench/measure/campaign.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "bench/measure/schedule.hpp"
#include "bench/shared_status.hpp"
#include "bench/stats/stats.hpp"

namespace penstock::bench {

Result<Ranks> choose_ranks(const Communicator& comm, int wanted) {
  Ranks ranks;
  ranks.all = comm;
  ranks.reader_count = wanted > 0 ? wanted : std::max(1, comm->size() - 1);
  if (ranks.reader_count > comm->size())
    return Status(Code::invalid, fmt::format("--readers {} is more than the {} ranks there are", wanted, comm->size()));
  PENSTOCK_ASSIGN(ranks.readers, comm->split(comm->rank() < ranks.reader_count ? 0 : -1));
  return ranks;
}

Campaign::Campaign(const Options& options, const Ranks& ranks, const Scratch& scratch, Progress& progress, Keep keep)
    : options_(options),
      surroundings_{ranks, &scratch, &progress, options.seed, options.keep, options.listed},
      keep_(std::move(keep)) {
  size_t folders = 0;
  for (const Case& one : options.cases) {
    runs_.push_back(std::make_unique<CaseRun>(one, surroundings_, folders));
    folders += one.methods.size();
  }
}

// Memory for the largest case is enough, since only one runs at a time.
Status Campaign::prepare() {
  int64_t bytes = 0;
  for (const auto& run : runs_) {
    PENSTOCK_TRY(run->prepare());
    bytes = std::max(bytes, run->memory_bytes());
  }
  memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(bytes));
  for (const auto& run : runs_) run->bind_memory({memory_.get(), static_cast<size_t>(bytes)});
  return {};
}

Result<Measured> Campaign::run() {
  PENSTOCK_TRY(agree(surroundings_.ranks.all, prepare()));
  for (const auto& run : runs_) PENSTOCK_TRY(run->calibrate());
  int total = 0;
  for (const Turn& turn : shuffled_turns(options_.cases, 0, 0)) total += operations(turn);
  surroundings_.progress->start(total * (options_.repetitions + 1));
  start_ = now();
  bool last = false;
  for (int repetition = 0; repetition <= options_.repetitions && !last; ++repetition) {
    PENSTOCK_ASSIGN(last, is_last(repetition));
    PENSTOCK_TRY(repeat(repetition, last));
    if (repetition == 0 && options_.slow_factor > 0) PENSTOCK_TRY(lose_patience());
    if (keep_ && !last && repetition > 0) {
      const bool root = surroundings_.ranks.all->rank() == 0;
      PENSTOCK_TRY(from_root(surroundings_.ranks.all, root ? keep_(so_far()) : Status()));
    }
  }
  surroundings_.progress->done();
  return so_far();
}

Measured Campaign::so_far() const {
  Measured copy = measured_;
  for (const auto& run : runs_) {
    copy.cases.push_back(run->results());
    copy.cases.back().stopped = measured_.stopped;
  }
  return copy;
}

// Whether no further repetition would end before the time limit. This must be known before it starts, because the last
// one is also verified by the format's own library.
Result<bool> Campaign::is_last(int repetition) {
  enum Reason : int64_t { none, all_made, half_width, time_limit };
  int64_t last = none;
  if (options_.time_limit_seconds > 0 && repetition > 0) {
    const double elapsed = now() - start_;
    if (elapsed + 2 * elapsed / repetition > options_.time_limit_seconds) last = time_limit;
  }
  if (last == none && options_.half_width > 0 && settled()) last = half_width;
  if (repetition == options_.repetitions) last = all_made;
  PENSTOCK_TRY(surroundings_.ranks.all->all_reduce_max(std::span(&last, 1)));
  if (repetition < options_.repetitions && last != none)
    measured_.stopped = last == time_limit ? "time limit" : "half-width";
  return last != none;
}

// On rank 0, which has the times: whether each interval is as narrow as requested.
bool Campaign::settled() const {
  for (const auto& run : runs_)
    for (const Outcome& outcome : run->results().outcomes)
      for (const Series& series : outcome.series) {
        std::vector<double> seconds;
        for (const Sample& sample : series.samples) seconds.push_back(sample.seconds);
        if (!outcome.error.ok() || (seconds.empty() && (!outcome.dropped.empty() || outcome.method.reference)))
          continue;
        if (seconds.empty() || relative_half_width(summarise(seconds)) > options_.half_width) return false;
      }
  return surroundings_.ranks.all->rank() == 0;
}

int Campaign::operations(const Turn& turn) const {
  return options_.cases[turn.case_index].methods[turn.method].reference ? 1 : operation_count;
}

Status Campaign::repeat(int repetition, bool last) {
  measured_.order.push_back(shuffled_turns(options_.cases, options_.seed, repetition));
  for (const auto& run : runs_) run->results().order.emplace_back();
  for (const Turn& turn : measured_.order.back()) {
    Results& results = runs_[turn.case_index]->results();
    results.order.back().push_back(turn.method);
    if (!results.outcomes[turn.method].runs(repetition)) {
      surroundings_.progress->skip(operations(turn));
      continue;
    }
    PENSTOCK_TRY(runs_[turn.case_index]->fill(repetition));
    PENSTOCK_TRY(runs_[turn.case_index]->take({turn.method, repetition, last}));
  }
  return {};
}

// Rank 0 has the times.
Status Campaign::lose_patience() {
  for (const auto& run : runs_) {
    Results& results = run->results();
    const std::vector<Patience> all = patience(results, options_.slow_factor);
    for (size_t method = 0; method < all.size(); ++method) {
      PENSTOCK_ASSIGN(results.outcomes[method].dropped, from_root(surroundings_.ranks.all, all[method].dropped));
      PENSTOCK_ASSIGN(results.outcomes[method].slow, from_root(surroundings_.ranks.all, all[method].slow));
    }
  }
  return {};
}

}  // namespace penstock::bench
