// Commit: the collective calls of a file that is being written or read, and the order of their steps.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "core/comm/calling.hpp"
#include "core/comm/library.hpp"
#include "core/commit/agreement.hpp"
#include "core/commit/read.hpp"
#include "core/methods/methods.hpp"
#include "core/session/bind.hpp"
#include "core/session/state.hpp"
#include "core/storage/filesystem.hpp"
#include "core/storage/owner.hpp"
#include "core/trace/trace.hpp"

namespace penstock {

namespace {

// What all ranks do because any of them needs it.
struct Work {
  bool write = false, read = false, refused = false;
  Options options;
  Result<Definitions> definitions = Definitions();  // of this rank, or its failure
  DefinitionBounds maxima = {};                     // of all ranks' bounds
  bool joins = false;                               // blocks of means that ranks share
  bool looked = false;                              // at the published file, which is in its place
  Problem written, wanted;                          // what is put, what is requested
};

// Turns blocks of means that are whole now into puts.
Status take_whole_blocks(File::State& state) {
  PENSTOCK_ASSIGN(std::vector<Pending> whole, take_whole_blocks(state.cut, state.puts));
  for (Pending& put : whole) {
    state.captured_bytes += put.part.elements() * bytes(put.type);
    state.puts.push_back(std::move(put));
  }
  return {};
}

// One reduction.
Result<Work> agree_work(File::State& state) {
  if (const Status taken = take_whole_blocks(state); state.misuse.ok()) state.misuse = taken;
  state.declared.left_out = state.left_out;
  const Definitions& declared = state.declared;
  const bool writes = !state.puts.empty() || !declared.attributes.empty() || !declared.unlimited.empty() ||
                      !declared.named.empty() || !declared.groups.empty() || !declared.removed.empty();
  const bool misused = !state.misuse.ok();
  const bool supplied = std::ranges::any_of(state.puts, [](const Pending& p) { return p.supplier != nullptr; });
  Work work;
  work.definitions = misused ? Result<Definitions>(state.misuse)
                             : define(state.published(), state.puts, state.declared, state.target.comm->rank());
  const DefinitionBounds bounds = bounds_of(work.definitions);
  const bool looks = writes && state.file && !state.file->stale && state.target.comm->rank() == 0;
  const Status held = looks ? look_at_held(state.target) : Status();
  const int ranks = state.target.comm->size();
  const PatternWords put = pattern_of(state.puts, ranks), got = pattern_of(state.gets, ranks);
  // Rank 0 looks only where it may matter, also for other ranks' requests.
  const bool matters = !state.wisdom.empty() || state.plan.settings.integer("learn") > 0 || Trace::current() != nullptr;
  const bool looks_there = (state.mode == Mode::read || !state.gets.empty()) && matters;
  const bool in_memory =
      looks_there && state.target.comm->rank() == 0 && state.file && is_in_page_cache(state.file->contents.parts.at(0));
  Learning& learning = state.target.comm->attachments().get<Learning>();
  int64_t any[22] = {writes || !state.exists() || (misused && state.mode != Mode::read),
                     !state.gets.empty() || (misused && state.mode == Mode::read),
                     !state.refused.ok(),
                     state.options.partial,
                     supplied,
                     state.options.xdmf,
                     static_cast<int64_t>(state.options.convention),
                     bounds[0],
                     bounds[1],
                     bounds[2],
                     looks,
                     !held.ok(),
                     put[0],
                     put[1],
                     put[2],
                     got[0],
                     got[1],
                     got[2],
                     state.target.comm->node_size(),
                     in_memory,
                     learning.nanoseconds,
                     !state.cut.empty()};
  PENSTOCK_TRY(state.target.comm->all_reduce_max(any));
  learning.tell(any[20]);
  work.write = any[0] != 0;
  work.read = any[1] != 0;
  work.refused = any[2] != 0;
  work.options = {any[3] != 0, any[4] != 0, any[5] != 0, static_cast<Convention>(any[6])};
  work.maxima = {any[7], any[8], any[9]};
  work.joins = any[21] != 0;
  work.looked = any[10] != 0 && any[11] == 0;
  const ProblemOf of{&state.plan, state.filesystem, state.target.durable, ranks, any[18]};
  work.written = make_problem(of, true, {any[12], any[13], any[14]}, false);
  work.wanted = make_problem(of, false, {any[15], any[16], any[17]}, any[19] != 0);
  return work;
}

int64_t total_bytes(const Catalogue& catalogue) {
  int64_t total = 0;
  for (const Dataset& dataset : catalogue.datasets)
    if (__builtin_add_overflow(total, bytes(dataset), &total)) return std::numeric_limits<int64_t>::max();
  return total;
}

int64_t pending_bytes(const std::vector<Pending>& pending) {
  int64_t sum = 0;
  for (const Pending& p : pending) sum += p.part.elements() * bytes(p.type);
  return sum;
}

// Adds the difference of this rank's file and message counts between two moments.
void count(File::State& state, int sign) {
  const StorageCounts counts = state.target.storage->counts();
  Report& report = state.report;
  report.file_calls += sign * (counts.writes + counts.reads);
  report.file_bytes += sign * (counts.write_bytes + counts.read_bytes);
  report.metadata_calls += sign * counts.metadata;
  report.messages += sign * state.target.comm->messages_sent();
  report.message_bytes += sign * state.target.comm->bytes_sent();
  if (state.background_comm == nullptr) return;
  report.messages += sign * state.background_comm->messages_sent();
  report.message_bytes += sign * state.background_comm->bytes_sent();
}

void show_step(File::State& state, bool writes) {
  state.shown.begin({writes, state.target.path, state.report.plan, state.target.token, state.target.comm->rank(),
                     state.target.comm->size(), state.commits, state.report.bytes});
}

// The end of a step, whatever became of it.
Status end_work(File::State& state, Status status) {
  state.target.comm->attachments().get<Learning>().end(status.ok());
  count(state, 1);
  end_step(state, status);
  state.shown.end();
  return status;
}

void count_captured(File::State& state) {
  state.captured_bytes = 0;
  for (const auto* puts : {&state.puts, state.moving ? &state.moving->puts : nullptr})
    for (size_t i = 0; puts != nullptr && i < puts->size(); ++i)
      if ((*puts)[i].captured) state.captured_bytes += (*puts)[i].part.elements() * bytes((*puts)[i].type);
}

// Ends the commit in progress, if any.
Status finish_work(File::State& state) {
  if (!state.moving) return {};
  const Status status = publish_moved(state, *state.moving);
  if (status.ok()) ++state.commits;
  state.moving.reset();
  count_captured(state);
  state.target.storage->free_removed_files();
  return end_work(state, status);
}

Result<Communicator> background_of(File::State& state) {
  const Communicator& comm = state.target.comm;
  if (comm->size() == 1) return comm;
  if (state.background_comm == nullptr) {
    PENSTOCK_ASSIGN(state.background_comm, comm->duplicate());
    state.background_call.emplace(state.background_comm, "a background commit", state.target.path);
    state.report.messages -= state.background_comm->messages_sent();  // of earlier files
    state.report.message_bytes -= state.background_comm->bytes_sent();
  }
  return state.background_comm;
}

// Later puts belong to the next commit, whatever becomes of this one.
Status start_writing(File::State& state, Work work, bool background) {
  std::vector<Pending> puts = std::exchange(state.puts, {});
  state.declared = {};
  AllCutBlocks cut = std::exchange(state.cut, {});
  if (state.file && !state.file->stale && !work.looked) PENSTOCK_TRY(check_held(state.target));
  if (work.joins) {
    PENSTOCK_ASSIGN(std::vector<Pending> joined, join_blocks(state.target.comm, std::move(cut)));
    state.report.bytes += pending_bytes(joined);
    std::ranges::move(joined, std::back_inserter(puts));
  }
  PENSTOCK_ASSIGN(NewContents contents,
                  agree_contents(state, puts, std::move(work.definitions), work.maxima, work.options));
  state.shown.set_total(total_bytes(contents.catalogue));
  PENSTOCK_ASSIGN(Communicator comm, background ? background_of(state) : state.target.comm);
  PENSTOCK_ASSIGN(state.moving, start_moving(state, std::move(contents), std::move(puts), std::move(comm), background));
  count_captured(state);
  return {};
}

Status start_work(File::State& state, bool background) {
  state.harmless = false;
  PENSTOCK_TRY(finish_work(state));
  PENSTOCK_ASSIGN(Work work, agree_work(state));
  state.harmless = work.refused || (state.forgetful && !work.write);
  if (work.refused) return agree(state.target.comm, state.refused);
  if (!work.write && !work.read) return {};
  state.report = {};
  state.report.filesystem = state.filesystem;
  state.report.warnings = state.warnings;
  state.report.bytes = pending_bytes(state.puts) + pending_bytes(state.gets);
  bind_plan(state, work.read ? work.wanted : work.written, background && !work.read, !work.read || !work.write);
  begin_step(state, work.write);
  show_step(state, work.write);
  count(state, -1);
  Status status = work.read ? read_pending(state, state.gets, state.misuse) : Status();
  if (status.ok() || state.harmless) state.gets.clear();
  const bool write = work.write;
  if (status.ok() && write && work.read) bind_plan(state, work.written, background, false);
  if (status.ok() && write) status = start_writing(state, std::move(work), background);
  if (status.ok() && write) return status;
  if (write) {
    count_captured(state);
    state.target.storage->free_removed_files();
  }
  return end_work(state, status);
}

// The first failure determines the file's outcome. A failure that names the file, as when ranks lost each other, stays
// the same on all ranks, whatever they were doing.
Status conclude(File::State& state, const Status& status) {
  if (status.ok()) return state.outcome = status;
  const std::string name = fmt::format("'{}'", state.target.path);
  std::string message = by_its_name(status, partial_path(state.target), state.target.path).message();
  if (message.find(name) == std::string::npos) message = fmt::format("{}: {}", name, message);
  const int ranks = program_size();
  const Code code = status.code();
  if (state.target.comm->size() < ranks && state.target.comm->server_ranks() == nullptr &&
      (code == Code::incomplete || code == Code::overlap || code == Code::mismatch || code == Code::exists))
    message += fmt::format("; the file's communicator has {} of the program's {} ranks: is that meant?",
                           state.target.comm->size(), ranks);
  Status named(code, std::move(message));
  if (!state.harmless || code == Code::timeout || code == Code::in_doubt) state.outcome = named;
  return named;
}

// Adds its lifetime to the seconds of commits.
class CommitTimer {
 public:
  explicit CommitTimer(File::State& state) : state_(state), begin_(now()) {}
  ~CommitTimer() { state_.commit_seconds += now() - begin_; }
  CommitTimer(const CommitTimer&) = delete;
  CommitTimer& operator=(const CommitTimer&) = delete;

 private:
  File::State& state_;
  double begin_;
};

}  // namespace

Status File::commit() {
  State& state = *state_;
  PENSTOCK_TRY(state.usable());
  const Calling calling(state.target.comm, "commit", state.target.path);
  const CommitTimer timer(state);
  const Status started = start_work(state, false);
  if (started.ok() && state.moving && state.moving->mover->is_detached()) return {};  // servers continue by themselves
  return conclude(state, started.ok() ? finish_work(state) : started);
}

Status File::commit_start() {
  PENSTOCK_TRY(state_->usable());
  const Calling calling(state_->target.comm, "commit_start", state_->target.path);
  const CommitTimer timer(*state_);
  return conclude(*state_, start_work(*state_, true));
}

Result<bool> File::commit_test() {
  PENSTOCK_TRY(state_->usable());
  if (!state_->moving) return true;
  auto done = state_->moving->mover->progress(0);
  if (!done.ok()) return true;  // commit_wait reports the error, on all ranks
  return done;
}

Status File::commit_wait() {
  PENSTOCK_TRY(state_->usable());
  const Calling calling(state_->target.comm, "commit_wait", state_->target.path);
  const CommitTimer timer(*state_);
  return conclude(*state_, finish_work(*state_));
}

Status File::close() {
  State& state = *state_;
  if (state.closed) return {Code::invalid, "the file is closed already"};
  const Calling calling(state.target.comm, "close", state.target.path);
  Status status = commit();
  if (status.ok()) status = commit_wait();
  if (Trace* trace = Trace::current()) trace->flush();
  state.closed = true;
  state.puts.clear();
  state.cut.clear();
  state.gets.clear();
  const auto then = std::exchange(state.then, {});
  return status.ok() && then ? then(*this, state.commit_seconds) : status;
}

}  // namespace penstock
