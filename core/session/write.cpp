// Writing: one commit, from the ranks' puts to one published file.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <penstock/config.h>

#include "core/base/guarded.hpp"
#include "core/base/nearest.hpp"
#include "core/comm/calling.hpp"
#include "core/integrity/files.hpp"
#include "core/model/dimension_names.hpp"
#include "core/model/dimension_scales.hpp"
#include "core/session/method.hpp"
#include "core/session/proof.hpp"
#include "core/session/state.hpp"
#include "core/session/writing.hpp"

namespace penstock {
namespace {

// Whether NAME is a dataset of CATALOGUE or a group: one of GROUPS, or one with contents.
bool exists(const Catalogue& catalogue, const std::set<std::string>& groups, const std::string& name) {
  const std::string below = name + "/";
  const auto at = std::ranges::lower_bound(catalogue.datasets, below, {}, &Dataset::name);
  const auto group = groups.lower_bound(below);
  return name.empty() || catalogue.find(name) != nullptr || groups.contains(name) ||
         (at != catalogue.datasets.end() && at->name.starts_with(below)) ||
         (group != groups.end() && group->starts_with(below));
}

// Checks that each of OBJECTS, whose attributes were set, is a dataset or a group of CATALOGUE. GROUPS were created
// explicitly, now or before. The description of a mesh makes it a group.
Status check_objects(const Catalogue& catalogue, const std::set<std::string>& groups,
                     const std::vector<std::string>& objects) {
  for (const std::string& object : objects) {
    const auto& attributes = catalogue.attributes.at(object);
    if (attributes.empty() || attributes.contains("mesh") || exists(catalogue, groups, object)) continue;
    Catalogue there{catalogue.datasets, {}};
    for (const std::string& group : groups) there.attributes.try_emplace(group);
    const std::vector<std::string> names = object_names(there);
    if (attributes.begin()->first == naming_attribute)
      return {Code::not_found, fmt::format("the dimensions of '{}' have names, but there is no such dataset{}", object,
                                           did_you_mean(object, names))};
    return {Code::not_found,
            fmt::format("attribute '{}' of '{}': there is no dataset or group of that name, neither put nor in the "
                        "file{} (penstock_group, make_group or create_group makes an empty group)",
                        attributes.begin()->first, object, did_you_mean(object, names))};
  }
  return {};
}

// RESOLVED keeps its claims, which are renumbered for the target's datasets.
Result<NewContents> target_of(const File::State& state, Resolved& resolved) {
  NewContents target{std::move(resolved.catalogue), {}};
  std::vector<std::string> objects;
  for (const auto& [object, attributes] : target.catalogue.attributes) objects.push_back(object);
  if (state.file)
    PENSTOCK_TRY(add_old(without(state.file->contents.catalogue, resolved.removed), target, resolved.claims));
  else
    target.kept.assign(target.catalogue.datasets.size(), 0);
  for (const std::string& name : resolved.unlimited) {
    const int index = target.catalogue.index_of(name);
    if (index < 0)
      return Status(Code::invalid, fmt::format("'{}' was declared unlimited, but is not in the file", name));
    Dataset& dataset = target.catalogue.datasets[static_cast<size_t>(index)];
    if (dataset.shape.rank() == 0)
      return Status(Code::invalid, fmt::format("'{}' is a scalar, which cannot be unlimited", name));
    dataset.unlimited = true;
  }
  std::set<std::string> groups = resolved.groups;
  if (state.file)
    for (const auto& [object, attributes] : state.file->contents.catalogue.attributes) groups.insert(object);
  PENSTOCK_TRY(check_objects(target.catalogue, groups, objects));
  for (const std::string& group : resolved.groups) {
    if (target.catalogue.find(group) != nullptr)
      return Status(Code::invalid, fmt::format("'{}' is a dataset, so it cannot be made a group", group));
    target.catalogue.attributes.try_emplace(group);
  }
  PENSTOCK_TRY(check_dimensions(target.catalogue, resolved.named));
  return target;
}

Status check_convention(const File::State& state) {
  const MethodFacts& method = state.target.method;
  const bool cf = state.convention == Convention::cf;
  if (cf && method.convention != "CF")
    return {Code::unsupported,
            fmt::format("CF needs the names of dimensions that format netcdf and engine pnetcdf write, but "
                        "'{}' is written by '{}'",
                        state.target.path, method.writer)};
  if (!cf && method.convention != "openPMD")
    return {Code::unsupported,
            fmt::format("openPMD is written as HDF5, but '{}' is written by '{}'", state.target.path, method.writer)};
  if (state.target.set)
    return {Code::unsupported,
            fmt::format("readers of {} open one file, but '{}' would be a set of files: write it with "
                        "placement=single",
                        cf ? "CF" : "openPMD", state.target.path)};
  return {};
}

Status follow_convention(const File::State& state, Writing& writing) {
  Catalogue& catalogue = writing.target.catalogue;
  if (state.convention == Convention::none) return {};
  PENSTOCK_TRY(check_convention(state));
  if (state.convention == Convention::openpmd) return follow_openpmd(catalogue, "penstock " PENSTOCK_VERSION);
  PENSTOCK_ASSIGN(writing.added, follow_cf(catalogue));
  for (Added& one : writing.added) {
    const int at = insert_dataset(writing.target, writing.resolved.claims, one.dataset);
    if (state.target.comm->rank() > 0) continue;
    writing.resolved.claims.push_back(
        {at, Selection::whole(one.dataset.shape), reinterpret_cast<std::byte*>(one.values.data())});
  }
  return {};
}

// Later puts belong to the next commit.
void take_pending(File::State& state, Writing& writing) {
  writing.puts = std::move(state.puts);
  state.puts.clear();
  state.unlimited.clear();
  state.named.clear();
  state.groups.clear();
  state.removed.clear();
  writing.captured_bytes = state.captured_bytes;
}

Status define(File::State& state, Writing& writing) {
  PhaseTimer timer(state.report.phases, Phase::define);
  if (state.file && !state.file->stale) PENSTOCK_TRY(check_held(state.target));
  PENSTOCK_TRY(check_source(state));
  if (state.file) PENSTOCK_TRY(refresh(state.target, *state.file));
  auto mine = state.misuse.ok() ? local_definitions(state, state.puts) : Result<Definitions>(state.misuse);
  if (mine.ok()) mine->attributes = std::exchange(state.attributes, {});  // of this commit, whatever its outcome
  PENSTOCK_ASSIGN(Definitions agreed, agree_definitions(state.target.comm, std::move(mine)));
  PENSTOCK_ASSIGN(writing.resolved, resolve(state, state.puts, std::move(agreed), Direction::write));
  PENSTOCK_ASSIGN(writing.target, target_of(state, writing.resolved));
  PENSTOCK_TRY(follow_convention(state, writing));
  PENSTOCK_TRY(check_names(writing.target.catalogue));
  PENSTOCK_TRY(state.method->check(writing.target.catalogue));
  if (state.xdmf) PENSTOCK_TRY(describe_meshes(state.target, writing.target.catalogue, writing.output));
  if (!state.partial)
    PENSTOCK_TRY(prove_tiling(state.target.comm, writing.target.catalogue, writing.resolved.claims, writing.target.kept,
                              state.target.token + static_cast<uint64_t>(state.commits)));
  return plan_sums(state, writing);
}

int64_t total_bytes(const Catalogue& catalogue) {
  int64_t total = 0;
  for (const Dataset& dataset : catalogue.datasets)
    if (__builtin_add_overflow(total, bytes(dataset), &total)) return std::numeric_limits<int64_t>::max();
  return total;
}

Status start(File::State& state, Writing& writing, bool behind) {
  PENSTOCK_TRY(define(state, writing));
  state.shown.set_total(total_bytes(writing.target.catalogue));
  writing.comm = state.target.comm;
  if (behind && state.target.comm->size() > 1) {
    if (state.behind_comm == nullptr) {
      PENSTOCK_ASSIGN(state.behind_comm, state.target.comm->duplicate());
      state.behind_call.emplace(state.behind_comm, "a background commit", state.target.path);
      state.report.messages -= state.behind_comm->messages_sent();  // of earlier files
      state.report.message_bytes -= state.behind_comm->bytes_sent();
    }
    writing.comm = state.behind_comm;
  }
  PENSTOCK_TRY(state.method->begin(state, writing));
  if (!writing.sums.early) start_sums(state, writing, true);
  take_pending(state, writing);
  if (writing.mover->detaches()) {
    writing.mover->hand_over();
    writing.sums.wait();
    writing.puts.clear();  // the servers have the captured data
    state.captured_bytes -= std::exchange(writing.captured_bytes, 0);
    return {};
  }
  if (!behind || !state.target.comm->threads_allowed()) return {};
  if (!writing.communicates || state.target.comm->threads_may_communicate()) writing.mover->go_behind();
  return {};
}

// Shows ranks that wait for this one whether its thread makes progress: by its calls of the file system.
class StillMoving {
 public:
  explicit StillMoving(const File::State& state) : state_(state) {}
  void say() {
    const StorageCounts counts = state_.target.storage->counts();
    const int64_t calls = counts.writes + counts.reads + counts.metadata;
    if (std::exchange(calls_, calls) != calls) moved_at_ = now();
    state_.target.comm->working(now() - moved_at_);
  }

 private:
  const File::State& state_;
  int64_t calls_ = -1;
  double moved_at_ = 0;
};

Status finish(File::State& state, Writing& writing) {
  const double waiting_from = now();
  StillMoving still(state);
  const Status moved = writing.mover->finish([&] { still.say(); });
  Report& report = state.report;
  if (writing.mover->done_at() > 0)
    report.behind_seconds = std::min(writing.mover->done_at(), waiting_from) - writing.started_at;
  report.statistics = writing.mover->statistics();
  report.memory_peak = std::max(report.memory_peak, writing.mover->memory_peak());
  report.writers = writing.mover->touched_files() ? 1 : 0;
  for (size_t p = 0; p < report.phases.seconds.size(); ++p) report.phases.seconds[p] += writing.phases.seconds[p];
  report.hints = writing.hints_outcome.effective;
  const auto& warnings = writing.hints_outcome.warnings;
  report.warnings.insert(report.warnings.end(), warnings.begin(), warnings.end());
  const Doubt doubt(state.target.comm,
                    state.target.comm->rank() > 0 && moved.ok());  // rank 0 may learn of success and publish
  {
    PhaseTimer timer(report.phases, Phase::commit);
    const Untimed foreign(state.target.comm, writing.mover->is_foreign());
    PENSTOCK_TRY(agree(state.target.comm, moved));
  }
  PhaseTimer timer(report.phases, Phase::commit);
  return state.method->complete(state, writing);
}

// After a publication: prepares the state for the next commit.
void settle(File::State& state, Writing& writing) {
  state.file = Published{std::move(writing.output.placed.contents), state.target.path, !writing.known};
  take_record_apart(state.file->contents);
  if (writing.known) state.file->contents.parts = {state.target.path};
  (void)hold(state.target);  // if this fails, the next commit reports that the file was replaced
  state.target.storage->let_go();
  state.source.reset();
  state.captured_bytes -= writing.captured_bytes;
  state.exists = true;
  state.target.token += 0x9E3779B97F4A7C15;  // the next commit's generation
  ++state.commits;
}

void give_up(File::State& state, const Status& status) {
  if (status.code() != Code::in_doubt) remove_created(state.target, state.writing->output);
  if (!state.writing->output.partial.empty()) all_cleaned(state.target.comm, status);
  state.target.storage->let_go();
  state.writing.reset();
}

}  // namespace

int insert_dataset(NewContents& target, std::vector<Claim>& claims, Dataset dataset) {
  auto& datasets = target.catalogue.datasets;
  const auto at = std::ranges::lower_bound(datasets, dataset.name, {}, &Dataset::name) - datasets.begin();
  datasets.insert(datasets.begin() + at, std::move(dataset));
  target.kept.insert(target.kept.begin() + at, 0);
  for (Claim& claim : claims) claim.dataset += claim.dataset >= at ? 1 : 0;
  return static_cast<int>(at);
}

File::State::State() = default;

File::State::~State() {
  if (!writing) return;
  if (writing->communicates && writing->comm->size() > 1) writing->comm->spoil();
  if (writing->mover) writing->mover->give_up();
  writing->mover.reset();  // waits for a thread
  remove_created(target, writing->output);
}

Status start_writing(File::State& state, bool behind) {
  state.writing = std::make_unique<Writing>();
  const Status status = start(state, *state.writing, behind);
  if (!status.ok()) give_up(state, status);
  if (status.ok()) state.writing->started_at = now();
  return status;
}

Result<bool> test_writing(File::State& state) {
  if (!state.writing) return true;
  return state.writing->mover->progress(0);
}

bool handed_over(const File::State& state) { return state.writing && state.writing->mover->detaches(); }

Status finish_writing(File::State& state) {
  if (!state.writing) return {};
  const Status status = finish(state, *state.writing);
  if (!status.ok()) {
    give_up(state, status);
    return status;
  }
  settle(state, *state.writing);
  state.writing.reset();
  return {};
}

}  // namespace penstock
