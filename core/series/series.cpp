// Series: steps are files with a hook: when one is closed, rank 0 updates the index and removes expired steps.
#include <penstock/series.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/access/recognise.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/calling.hpp"
#include "core/comm/share.hpp"
#include "core/mesh/xdmf.hpp"
#include "core/publication/remove.hpp"
#include "core/series/index.hpp"
#include "core/series/schedule.hpp"
#include "core/session/open.hpp"
#include "core/storage/owner.hpp"
#include "core/storage/target.hpp"

namespace penstock {

class Series::State {
 public:
  Communicator comm;
  Pattern pattern;
  bool writable = false;
  std::string plan;
  Schedule schedule;
  Steps steps;                                     // the same on all ranks, except for bytes and changed_at
  std::shared_ptr<Storage> storage;                // of rank 0
  std::map<std::string, std::vector<Grid>> grids;  // rank 0, if xdmf is on: by file name

  std::optional<Moment> asked;  // the last question
  bool answer = false;
  std::vector<std::weak_ptr<const int64_t>> open;  // iterations of files neither closed nor abandoned
  double begin = now(), last_begin = begin;
  double writing = 0, last_write = 0;

  Result<bool> decide(const Moment& at);
  Step next(const Moment& at) const;
  Status closed(Step step, const File& file, double seconds);

 private:
  Status record(const Step& step, const std::string& path);
  Status write_xdmf();
};

namespace {

// Sends rank 0's findings to all ranks.
Result<Steps> share_steps(const Communicator& comm, const Result<Steps>& found) {
  const auto message = from_rank_0(comm, [&](Encoder& out) -> Status {
    PENSTOCK_TRY(found.status());
    out.value(std::ssize(found->list));
    for (const Step& step : found->list) {
      const int64_t numbers[4] = {step.iteration, step.branch, step.first, step.number};
      out.list(std::span<const int64_t>(numbers));
      out.value(step.time);
      out.text(step.name);
    }
    out.texts(found->replaced);
    out.texts(found->warnings);
    return {};
  });
  PENSTOCK_TRY(message.status());
  if (comm->rank() == 0) return found;
  Decoder in(*message);
  Steps steps;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    Step step;
    const auto numbers = in.list<int64_t>();
    if (numbers.size() != 4) break;
    step.iteration = numbers[0];
    step.branch = numbers[1];
    step.first = numbers[2];
    step.number = numbers[3];
    step.time = in.value<double>();
    step.name = in.text();
    steps.list.push_back(std::move(step));
  }
  steps.replaced = in.texts();
  steps.warnings = in.texts();
  return steps;
}

// Ranks that name different series would wait for each other later.
Status agree_arguments(const Communicator& comm, const std::string& mine) {
  return agree_same(comm, std::as_bytes(std::span(mine)), [&](std::span<const std::byte> of_rank_0) -> Status {
    const std::string_view theirs(reinterpret_cast<const char*>(of_rank_0.data()), of_rank_0.size());
    return {Code::mismatch,
            fmt::format("this rank asks for series {}, rank 0 for {}: all ranks must ask for the same", mine, theirs)};
  });
}

Status check_place(Storage& storage, const Series::State& state) {
  PENSTOCK_TRY(check_target(storage, state.pattern.index_path()).status());
  return state.schedule.xdmf ? check_target(storage, state.pattern.xdmf_path()).status() : Status();
}

// Rejects formats whose files XDMF cannot reference.
Status check_xdmf(const std::string& path, const std::string& plan) {
  for (const std::string_view other : {"netcdf/", "raw/", "pnetcdf", "adios2"})
    if (plan.starts_with(other))
      return {Code::unsupported,
              fmt::format("xdmf=true refers to HDF5 files, but '{}' is written by '{}'", path, plan)};
  return {};
}

}  // namespace

// Collective only if the clock is involved.
Result<bool> Series::State::decide(const Moment& at) {
  if (asked && *asked == at) return answer;
  // Before the first question: the last step that an earlier run wrote before it.
  std::optional<Moment> before = asked;
  if (!before)
    for (const Step& step : steps.list)
      if (step.iteration < at.iteration) before = Moment{step.iteration, step.time};
  bool due = !schedule.has_rules() || reaches_mark(schedule, before, at);
  if (schedule.needs_clock()) {
    const auto message = from_rank_0(comm, [&](Encoder& out) -> Status {
      const Spent spent{now() - begin, now() - last_begin, writing, last_write};
      out.value((due || clock_says_due(schedule, spent)) && budget_allows(schedule, spent));
      return {};
    });
    PENSTOCK_TRY(message.status());
    due = Decoder(*message).value<bool>();
  }
  asked = at;
  answer = due;
  return due;
}

Step Series::State::next(const Moment& at) const {
  Step step;
  step.iteration = at.iteration;
  step.time = at.time;
  bool back = false;
  for (const Step& other : steps.list) {
    step.branch = std::max(step.branch, other.branch);
    if (other.branch == step.branch) step.first = other.first;
    back = back || other.iteration >= at.iteration;
    if (other.iteration < at.iteration) step.number = std::max(step.number, other.number + 1);
  }
  for (const auto& one : open)
    if (const auto iteration = one.lock()) {
      back = back || *iteration >= at.iteration;
      step.number += *iteration < at.iteration ? 1 : 0;
    }
  if (back) {
    ++step.branch;
    step.first = at.iteration;
  }
  return step;
}

Status Series::State::closed(Step step, const File& file, double seconds) {
  const double start = now();
  const std::string& path = file.path();
  step.name = path.substr(folder_of(path).size());
  const auto at = std::ranges::lower_bound(steps.list, step.iteration, {}, &Step::iteration);
  if (at != steps.list.end() && at->iteration == step.iteration)
    *at = step;
  else
    steps.list.insert(at, step);
  const Status recorded = comm->rank() == 0 ? guarded([&] { return record(step, path); }) : Status();
  const Status agreed =
      agree(comm, recorded.in(fmt::format(
                      "'{}' is published, but its series is not up to date, which opening it again mends", path)));
  if (agreed.ok()) {
    drop_replaced(steps);
    steps.replaced.clear();
    const auto count = std::ssize(steps.list);
    int64_t i = 0;
    std::erase_if(steps.list, [&](const Step& one) { return !is_kept(schedule, one.number, count - 1 - i++); });
  }
  last_write = seconds + now() - start;
  writing += last_write;
  return agreed;
}

// Rank 0. A step is removed only after an index without it is durable; the new step is durable before that.
Status Series::State::record(const Step& step, const std::string& path) {
  PENSTOCK_ASSIGN(const FileStat info, storage->stat(path));
  for (Step& one : steps.list)
    if (one.iteration == step.iteration) one.bytes = info.bytes, one.changed_at = info.changed_at;
  Steps after = steps;
  drop_replaced(after);
  std::vector<std::string> gone = after.replaced;
  std::vector<Step> kept;
  for (size_t i = 0; i < after.list.size(); ++i)
    if (is_kept(schedule, after.list[i].number, std::ssize(after.list) - 1 - static_cast<int64_t>(i)))
      kept.push_back(after.list[i]);
    else
      gone.push_back(after.list[i].name);
  PENSTOCK_TRY(write_file(*storage, pattern.index_path(), encode_index(pattern, kept)));
  if (schedule.xdmf) {
    std::swap(steps.list, kept);
    grids.erase(step.name);  // it may belong to another step
    const Status written = write_xdmf();
    std::swap(steps.list, kept);
    PENSTOCK_TRY(written);
  }
  Status removed;
  for (const std::string& name : gone) {
    if (name == step.name) continue;
    grids.erase(name);
    if (const Status one = remove_published(*storage, pattern.folder + name); removed.ok()) removed = one;
  }
  storage->free_removed_files();
  return removed.in("what is no longer kept stays");
}

Status Series::State::write_xdmf() {
  std::vector<std::vector<Grid>> of_steps;
  std::vector<FileAtTime> moments;
  Status described;
  for (const Step& step : steps.list) {
    const auto [at, fresh] = grids.try_emplace(step.name);
    if (fresh) {
      const auto contents = recognise_and_read(*storage, pattern.folder + step.name);
      auto found = contents.ok() ? grids_of(contents->catalogue) : Result<std::vector<Grid>>(contents.status());
      described = found.status().in(fmt::format("'{}' is not in '{}'", step.name, pattern.xdmf_path()));
      if (found.ok()) at->second = *std::move(found);
    }
    moments.push_back({step.name, step.iteration, step.time});
    of_steps.push_back(at->second);
  }
  PENSTOCK_TRY(write_file(*storage, pattern.xdmf_path(), xdmf(moments, of_steps)));
  return described;  // of the newest
}

Series::Series(std::shared_ptr<State> state) : state_(std::move(state)) {}
Series::Series(Series&&) noexcept = default;
Series& Series::operator=(Series&&) noexcept = default;
Series::~Series() = default;

namespace {

Result<std::shared_ptr<Series::State>> make_state(const Communicator& comm, const std::string& pattern,
                                                  std::string_view plan, std::string_view options, bool writable) {
  PENSTOCK_TRY(agree_arguments(comm, fmt::format("'{}' with plan '{}' and options '{}'", pattern, plan, options)));
  auto state = std::make_shared<Series::State>();
  state->comm = comm;
  state->writable = writable;
  state->plan = plan;
  PENSTOCK_ASSIGN(state->pattern, parse_pattern(pattern));
  auto schedule = parse_schedule(options);
  PENSTOCK_TRY(schedule.status().in(fmt::format("series '{}'", pattern)));
  state->schedule = *std::move(schedule);
  Result<Steps> found = Steps();
  if (comm->rank() == 0) {
    state->storage = posix_storage({}, comm->threads_allowed());
    const Status looked = guarded([&]() -> Status {
      if (writable) {
        PENSTOCK_TRY(check_place(*state->storage, *state));
        const std::string first = state->pattern.path_of(0);
        PENSTOCK_ASSIGN(const std::string steps_plan, plan_of_new(comm, first, plan));
        if (state->schedule.xdmf) PENSTOCK_TRY(check_xdmf(first, steps_plan));
      }
      found = find_steps(*state->storage, state->pattern);
      return found.status();
    });
    if (!looked.ok()) found = looked;
  }
  PENSTOCK_ASSIGN(state->steps, share_steps(comm, found));
  return state;
}

}  // namespace

Result<Series> Series::create(const Communicator& comm, const std::string& pattern, std::string_view plan,
                              std::string_view options) {
  const Calling calling(comm, "series_create", pattern, false);
  PENSTOCK_ASSIGN(auto state, make_state(comm, pattern, plan, options, true));
  return Series(std::move(state));
}

Result<Series> Series::open(const Communicator& comm, const std::string& pattern) {
  const Calling calling(comm, "series_open", pattern, false);
  PENSTOCK_ASSIGN(auto state, make_state(comm, pattern, {}, {}, false));
  if (!state->steps.list.empty()) return Series(std::move(state));
  std::string why;
  for (const std::string& one : state->steps.warnings) why += "; " + one;
  return Status(Code::not_found, fmt::format("series '{}' has no step{}", pattern, why));
}

namespace {

Status check_moment(const Series::State& state, int64_t iteration, double time) {
  if (!state.writable)
    return {Code::invalid, fmt::format("series '{}' was opened to read", state.pattern.folder + state.pattern.text())};
  if (iteration < 0) return {Code::invalid, fmt::format("iteration {}: it cannot be negative", iteration)};
  if (!std::isfinite(time)) return {Code::invalid, fmt::format("time {}: it must be a finite number", time)};
  return {};
}

}  // namespace

Result<bool> Series::due(int64_t iteration, double time) {
  State& state = *state_;
  const Status moment = check_moment(state, iteration, time);
  const Calling calling(state.comm, "due", state.pattern.folder + state.pattern.text());
  if (!state.schedule.needs_clock()) {
    PENSTOCK_TRY(moment);
    return state.decide({iteration, time});
  }
  auto due = state.decide({iteration, time});
  return moment.ok() ? std::move(due) : moment;
}

Result<File> Series::step(int64_t iteration, double time) {
  const Status moment = check_moment(*state_, iteration, time);
  // The other ranks continue and learn that this rank requests no file.
  auto made = File::create(state_->comm, moment.ok() ? state_->pattern.path_of(iteration) : "", state_->plan);
  PENSTOCK_TRY(moment);
  PENSTOCK_ASSIGN(File file, std::move(made));
  if (state_->schedule.xdmf) PENSTOCK_TRY(check_xdmf(file.path(), file.plan()));
  const Step step = state_->next({iteration, time});
  file.set_step(step.number);
  for (Attribute& attribute : attributes_of(step)) PENSTOCK_TRY(file.set_attribute("", std::move(attribute)));
  std::erase_if(state_->open, [](const auto& one) { return one.expired(); });
  const auto opened = std::make_shared<const int64_t>(iteration);
  state_->open.push_back(opened);
  state_->last_begin = now();
  file.when_closed([state = state_, step, opened](const File& closed, double seconds) {
    return state->closed(step, closed, seconds);
  });
  return file;
}

std::vector<SeriesStep> Series::steps() const {
  std::vector<SeriesStep> list;
  for (int64_t i = 0; i < count(); ++i) list.push_back(*at(i));
  return list;
}

int64_t Series::count() const { return std::ssize(state_->steps.list); }

Result<SeriesStep> Series::at(int64_t index) const {
  if (index < 0 || index >= count())
    return Status(Code::invalid, fmt::format("step {}: series '{}' has {} steps, from 0", index,
                                             state_->pattern.folder + state_->pattern.text(), count()));
  const Step& step = state_->steps.list[static_cast<size_t>(index)];
  return SeriesStep{step.iteration, step.time, state_->pattern.folder + step.name};
}

Result<File> Series::open_step(int64_t index, std::string_view plan) const {
  const auto step = at(index);
  auto file = File::open(state_->comm, step.ok() ? step->path : "", plan);
  return step.ok() ? std::move(file) : step.status();
}

const std::vector<std::string>& Series::warnings() const { return state_->steps.warnings; }

}  // namespace penstock
