// Moving: one commit, from its contents to one published file.
#include "core/commit/moving.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/comm/calling.hpp"
#include "core/commit/automatic.hpp"
#include "core/commit/method.hpp"

namespace penstock {
namespace {

// Shows ranks that wait for this one whether its thread makes progress: by its calls of the file system.
class StillMoving {
 public:
  explicit StillMoving(const Target& target) : target_(target) {}
  void say() {
    const StorageCounts counts = target_.storage->counts();
    const int64_t calls = counts.writes + counts.reads + counts.metadata;
    if (std::exchange(calls_, calls) != calls) moved_at_ = now();
    target_.comm->working(now() - moved_at_);
  }

 private:
  const Target& target_;
  int64_t calls_ = -1;
  double moved_at_ = 0;
};

// Adds what the movement knows of itself to REPORT, after it has ended. WAITING_FROM: when the program began to wait.
void report_movement(const Moving& moving, double waiting_from, Report& report) {
  const Mover& mover = *moving.mover;
  if (mover.done_at() > 0) report.background_seconds = std::min(mover.done_at(), waiting_from) - moving.started_at;
  report_moved(mover.moved(), report);
  if (moving.encoded.has_written) report.writers = 1;
  for (size_t p = 0; p < report.phases.seconds.size(); ++p) report.phases.seconds[p] += moving.phases.seconds[p];
  report_hints(moving.hints_outcome, report);
}

// SECONDS: of the movement; 0 if the program did something else meanwhile.
Status finish(Opened& file, Moving& moving, double& seconds) {
  const Communicator& comm = file.target.comm;
  const double waiting_from = now();
  StillMoving still(file.target);
  const Status moved = moving.mover->finish([&] { still.say(); });
  seconds = now() - moving.started_at;
  if (waiting_from - moving.started_at > 0.1 * seconds) seconds = 0;
  report_movement(moving, waiting_from, file.report);
  const Doubt doubt(comm, comm->rank() > 0 && moved.ok());  // rank 0 may learn of success and publish
  {
    PhaseTimer timer(file.report.phases, Phase::commit);
    const Untimed foreign(comm, moving.mover->needs() == Needs::gate);
    PENSTOCK_TRY(agree(comm, moved));
  }
  PhaseTimer timer(file.report.phases, Phase::commit);
  return file.method->complete(file, moving);
}

// Collective. Warns, on all ranks, of values that conversion has changed by more than rounding.
Status report_losses(const Communicator& comm, std::span<const Converted> converted, Report& report) {
  if (converted.empty()) return {};
  std::vector<int64_t> sums;
  for (const Converted& one : converted) {
    Loss all;
    for (const auto& loss : one.losses) {
      all.overflowed += loss->overflowed;
      all.nan += loss->nan;
    }
    sums.insert(sums.end(), {all.overflowed, all.nan});
  }
  PENSTOCK_TRY(comm->all_reduce_sum(sums));
  for (size_t i = 0; i < converted.size(); ++i) {
    const auto& [name, type, losses] = converted[i];
    const std::string stored = penstock::name(type);
    if (sums[2 * i] > 0)
      report.warnings.push_back(fmt::format("'{}': values beyond the range of {}, stored as {}: {}", name, stored,
                                            is_integer(type) ? "the end of it" : "infinite", sums[2 * i]));
    if (sums[2 * i + 1] > 0)
      report.warnings.push_back(
          fmt::format("'{}': values that are not a number, stored as _FillValue since {} has "
                      "none: {}",
                      name, stored, sums[2 * i + 1]));
  }
  return {};
}

void clean_up(Moving& moving, const Status& why) {
  if (why.code() != Code::in_doubt) remove_created(moving.target, moving.output);
  moving.finished = true;
  if (!moving.output.partial.empty()) all_cleaned(moving.target.comm, why);
}

}  // namespace

Moving::~Moving() {
  if (mover && !finished) {
    if (mover->needs() != Needs::nothing && comm->size() > 1) comm->poison();
    mover->abandon();
  }
  mover.reset();  // waits for a thread
  end_summing();
  if (!finished) remove_created(target, output);
}

void report_moved(const Moved& moved, Report& report) {
  report.statistics = moved.statistics;
  report.memory_peak = std::max(report.memory_peak, moved.memory_peak);
  report.writers = moved.touched_files ? 1 : 0;
}

void report_hints(const HintsOutcome& outcome, Report& report) {
  report.hints = outcome.effective;
  report.warnings.insert(report.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
}

Result<std::unique_ptr<Moving>> start_moving(Opened& file, NewContents contents, std::vector<Pending> puts,
                                             Communicator comm, bool background) {
  auto moving = std::make_unique<Moving>(file.target, std::move(contents), std::move(puts), std::move(comm));
  const Target& target = file.target;
  moving->background = background;
  moving->output.xdmf = std::move(moving->contents.xdmf);
  if (const Status begun = file.method->begin(file, *moving); !begun.ok()) {
    clean_up(*moving, begun);
    return begun;
  }
  if (!moving->contents.sums.early) start_sums(target, *moving, true);
  moving->mover->detach();
  if (moving->mover->is_detached()) {
    moving->end_summing();
    moving->puts.clear();  // the servers have the captured data
  } else if (background && target.comm->threads_allowed() &&
             (moving->mover->needs() == Needs::nothing || target.comm->threads_may_communicate())) {
    moving->mover->go_to_background();
  }
  moving->started_at = now();
  return moving;
}

Status publish_moved(Opened& file, Moving& moving) {
  Target& target = file.target;
  double seconds = 0;
  if (const Status status = finish(file, moving, seconds); !status.ok()) {
    clean_up(moving, status);
    return status;
  }
  moving.finished = true;
  // Of what is written ahead it would be the rate of the rest, and of the sync of all.
  if (!target.method.own_files && seconds > 0 && !moving.encoded.ahead) {
    int64_t bytes = 0;
    for (const Part& part : moving.output.placed.parts) bytes += part.bytes;
    note_rate(target, bytes, seconds);
  }
  PENSTOCK_TRY(report_losses(target.comm, moving.contents.converted, file.report));
  file.file = Published{std::move(moving.output.placed.contents), target.path, !moving.known};
  take_record_apart(file.file->contents);
  if (moving.known) file.file->contents.parts = {target.path};
  file.source.reset();
  (void)hold(target);                  // if this fails, the next commit reports that the file was replaced
  target.token += 0x9E3779B97F4A7C15;  // the next commit's generation
  return {};
}

}  // namespace penstock
