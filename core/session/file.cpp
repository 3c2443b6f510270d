// File: the public interface of a session: the local calls, and the order of steps in a commit.
#include <penstock/file.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/comm/calling.hpp"
#include "core/comm/library.hpp"
#include "core/methods/methods.hpp"
#include "core/model/dimension_names.hpp"
#include "core/model/widen.hpp"
#include "core/publication/output.hpp"
#include "core/session/state.hpp"
#include "core/storage/owner.hpp"
#include "core/trace/trace.hpp"

namespace penstock {

File::File(std::unique_ptr<State> state) : state_(std::move(state)) {}
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

namespace {

Result<Pending> make_pending(const File::State& state, std::string_view name, ElementType type,
                             const Decomposition& part, const void* data, const Memory& memory) {
  if (state.closed) return Status(Code::invalid, "the file is closed");
  if (!state.outcome.ok())
    return Status(Code::invalid,
                  fmt::format("after a failed commit the file can only be closed ({})", state.outcome.message()));
  PENSTOCK_ASSIGN(std::string stored, dataset_name(name));
  const std::string context = fmt::format("'{}'", stored);
  PENSTOCK_TRY(check_shape(type, part.shape()).in(context));
  PENSTOCK_TRY(check_memory(part, memory).in(context));
  if (data == nullptr && part.elements() > 0)
    return Status(Code::invalid, context + ": the data pointer is null, but the block has elements");
  return Pending{std::move(stored), type, part, memory, static_cast<std::byte*>(const_cast<void*>(data)), nullptr, {}};
}

Status check_usable(const File::State& state) {
  if (state.closed) return {Code::invalid, "the file is closed"};
  return state.outcome;
}

Status check_writable(const File::State& state) {
  if (state.mode != Mode::read) return {};
  return {Code::invalid, fmt::format("'{}' was opened to read: use reopen to change it", state.target.path)};
}

}  // namespace

Status File::put(std::string_view name, ElementType type, const Decomposition& part, const void* data,
                 const Memory& memory) {
  State& state = *state_;
  PENSTOCK_TRY(state.remember(check_writable(state)));
  auto pending = make_pending(state, name, type, part, data, memory);
  if (!pending.ok()) return state.remember(pending.status());
  const int64_t size = part.elements() * bytes(type);
  if (size > state.capture_bytes - state.captured_bytes)
    return state.remember(
        {Code::memory,
         fmt::format(
             "'{}': copying {} would exceed the limit of {} for captured data, {} of which are taken: use lend, "
             "commit more often, or raise capture_bytes",
             pending->name, format_bytes(size), format_bytes(state.capture_bytes),
             format_bytes(state.captured_bytes))});
  PENSTOCK_TRY(state.remember(capture(*pending)));
  state.captured_bytes += size;
  state.puts.push_back(*std::move(pending));
  return {};
}

Status File::lend(std::string_view name, ElementType type, const Decomposition& part, const void* data,
                  const Memory& memory) {
  State& state = *state_;
  PENSTOCK_TRY(state.remember(check_writable(state)));
  auto pending = make_pending(state, name, type, part, data, memory);
  if (!pending.ok()) return state.remember(pending.status());
  state.puts.push_back(*std::move(pending));
  return {};
}

void File::set_meant(std::string word) {
  if (!state_->puts.empty()) state_->puts.back().meant = std::move(word);
}

Status File::supply(std::string_view name, ElementType type, const Decomposition& part, Supplier supplier) {
  State& state = *state_;
  PENSTOCK_TRY(state.remember(check_writable(state)));
  if (!supplier) return state.remember({Code::invalid, fmt::format("'{}': the supplier is no function", name)});
  if (part.form() == Decomposition::Form::replicated)
    return state.remember(
        {Code::invalid, fmt::format("'{}': replicated data is put, not supplied: or supply it as a block of "
                                    "one rank",
                                    name)});
  constexpr std::byte nothing{};  // the pending has a supplier instead
  auto pending = make_pending(state, name, type, part, &nothing, {});
  if (!pending.ok()) return state.remember(pending.status());
  pending->data = nullptr;
  pending->supplier = std::move(supplier);
  state.puts.push_back(*std::move(pending));
  return {};
}

namespace {

// Checks that TYPE and the shape of PART are those of the dataset in the file.
Status check_get(const File::State& state, const Pending& wanted) {
  if (!state.file)
    return {Code::not_found, fmt::format("'{}': nothing was written yet that could be read", wanted.name)};
  const Dataset* there = state.file->contents.catalogue.find(wanted.name);
  if (there == nullptr) return no_dataset(state, wanted.name);
  if (there->type != wanted.type)
    return {Code::mismatch,
            fmt::format(
                "'{}' is {} in '{}', but {} is asked for{}", wanted.name, describe(*there), state.target.path,
                name(wanted.type),
                widens(there->type, wanted.type) ? ": it is widened where that is asked for (docs/precision.md)" : "")};
  Dims stored = there->shape;
  const auto form = wanted.part.form();
  const bool rows = form == Decomposition::Form::ragged || form == Decomposition::Form::per_rank;
  if (rows && stored.rank() > 0) stored = Dims(std::span(stored.begin() + 1, stored.end()));
  if (!(stored == wanted.part.shape()) || (rows && there->shape.rank() == 0))
    return {Code::mismatch, fmt::format("'{}' is {} in '{}', but {} {} is asked for", wanted.name, describe(*there),
                                        state.target.path, rows ? "rows of" : "shape", describe(wanted.part.shape()))};
  return {};
}

}  // namespace

Status File::get(std::string_view name, ElementType type, const Decomposition& part, void* data, const Memory& memory) {
  State& state = *state_;
  auto pending = make_pending(state, name, type, part, data, memory);
  if (!pending.ok()) return state.remember(pending.status());
  PENSTOCK_TRY(state.remember(check_get(state, *pending)));
  state.gets.push_back(*std::move(pending));
  return {};
}

Status File::get_widened(std::string_view name, ElementType type, const Decomposition& part, void* data,
                         const Memory& memory) {
  State& state = *state_;
  auto pending = make_pending(state, name, type, part, data, memory);
  if (!pending.ok()) return state.remember(pending.status());
  const Dataset* there = state.file ? state.file->contents.catalogue.find(pending->name) : nullptr;
  if (there != nullptr && there->type != type) {
    if (!widens(there->type, type))
      return state.remember(
          {Code::mismatch, fmt::format("'{}' is {} in '{}', and {} does not hold all of its values", pending->name,
                                       describe(*there), state.target.path, penstock::name(type))});
    PENSTOCK_TRY(state.remember(read_as(*pending, there->type).in(fmt::format("'{}'", pending->name))));
  }
  PENSTOCK_TRY(state.remember(check_get(state, *pending)));
  state.gets.push_back(*std::move(pending));
  return {};
}

Status File::set_attribute(std::string_view object, Attribute attribute) {
  State& state = *state_;
  PENSTOCK_TRY(state.remember(check_writable(state)));
  auto stored = object_name(object);
  if (!stored.ok()) return state.remember(stored.status());
  if (attribute.name.empty() || attribute.name.find('\0') != std::string::npos || attribute.name.size() > 1000)
    return state.remember(
        {Code::invalid, fmt::format("an attribute of '{}' needs a name of 1 to 1000 bytes without NUL", object)});
  if (attribute.shape.rank() > 1)
    return state.remember(
        {Code::invalid, fmt::format("attribute '{}': values are scalars or one-dimensional arrays", attribute.name)});
  PENSTOCK_TRY(state.remember(check_shape(attribute.type, attribute.shape).in(attribute.name)));
  if (static_cast<int64_t>(attribute.value.size()) != elements(attribute.shape) * bytes(attribute.type))
    return state.remember(
        {Code::invalid, fmt::format("attribute '{}' has {} bytes, its type and shape have {}", attribute.name,
                                    attribute.value.size(), elements(attribute.shape) * bytes(attribute.type))});
  const std::string key = attribute.name;
  state.attributes[*stored].insert_or_assign(key, std::move(attribute));
  return {};
}

Status File::make_group(std::string_view name) {
  PENSTOCK_TRY(state_->remember(check_writable(*state_)));
  auto stored = object_name(name);
  if (!stored.ok()) return state_->remember(stored.status());
  if (stored->empty()) return state_->remember({Code::invalid, "a group needs a name"});
  state_->groups.insert(*std::move(stored));
  return {};
}

Status File::remove(std::string_view name) {
  State& state = *state_;
  PENSTOCK_TRY(state.remember(check_writable(state)));
  auto stored = dataset_name(name);
  if (!stored.ok()) return state.remember(stored.status());
  const std::set<std::string> gone{*stored};
  const auto goes = [&](const std::string& object) { return is_among(object, gone); };
  size_t found = 0;
  for (const Pending& put : state.puts)
    if (goes(put.name) && put.captured) state.captured_bytes -= put.part.elements() * bytes(put.type);
  found += std::erase_if(state.puts, [&](const Pending& put) { return goes(put.name); });
  found += std::erase_if(state.attributes, [&](const auto& one) { return goes(one.first); });
  for (auto* names : {&state.unlimited, &state.named, &state.groups}) found += std::erase_if(*names, goes);
  if (has(*stored) && state.removed.insert(*stored).second) ++found;
  if (found > 0) return {};
  return state.remember({Code::not_found, fmt::format("'{}' has no dataset or group '{}' that could be removed",
                                                      state.target.path, *stored)});
}

Status File::check_dimensions(std::string_view dataset, std::span<const std::string> names) {
  PENSTOCK_ASSIGN(const std::string stored, dataset_name(dataset));
  return check_dimension_names(stored, names);
}

Status File::set_dimensions(std::string_view dataset, std::span<const std::string> names) {
  PENSTOCK_TRY(state_->remember(check_writable(*state_)));
  PENSTOCK_TRY(state_->remember(check_dimensions(dataset, names)));
  auto stored = dataset_name(dataset);
  if (!names.empty()) PENSTOCK_TRY(set_attribute(*stored, naming({names.begin(), names.end()})));
  state_->named.insert(*std::move(stored));
  return {};
}

Status File::set_unlimited(std::string_view name) {
  PENSTOCK_TRY(state_->remember(check_writable(*state_)));
  auto stored = dataset_name(name);
  if (!stored.ok()) return state_->remember(stored.status());
  state_->unlimited.insert(*std::move(stored));
  return {};
}

Status File::get_now(std::string_view name, ElementType type, const Decomposition& part, void* data,
                     const Memory& memory) {
  State& state = *state_;
  PENSTOCK_TRY(check_usable(state));
  auto pending = make_pending(state, name, type, part, data, memory);
  if (!pending.ok()) return refuse_get(pending.status());
  if (const Status fits = check_get(state, *pending); !fits.ok()) return refuse_get(fits);
  state.gets.push_back(*std::move(pending));
  const size_t asked = state.gets.size();
  Status status = commit();
  if (!status.ok() && state.gets.size() == asked) state.gets.pop_back();
  return status;
}

Status File::refuse_get(const Status& why) {
  state_->refused = why;
  Status status = commit();
  state_->refused = {};
  return status.ok() ? why : status;
}

void File::remember_failure(const Status& status) { (void)state_->remember(status); }
void File::set_forgetful(bool forgetful) { state_->forgetful = forgetful; }
bool File::is_usable() const { return !state_->closed && state_->outcome.ok(); }
bool File::is_pending() const { return !state_->puts.empty() || !state_->gets.empty(); }
void File::set_partial(bool partial) { state_->partial = partial; }
void File::set_xdmf(bool xdmf) { state_->xdmf = xdmf; }

Status File::set_conventions(std::string_view convention) {
  auto parsed = parse_convention(convention);
  if (!parsed) {
    remember_failure(parsed.status());
    return parsed.status();
  }
  state_->convention = *parsed;
  return {};
}
void File::set_capture_bytes(int64_t bytes) { state_->capture_bytes = bytes; }

const std::string& File::path() const { return state_->target.path; }
std::string File::plan() const { return state_->plan.text(catalog()); }
const Report& File::report() const { return state_->report; }
const Communicator& File::communicator() const { return state_->target.comm; }
void File::when_closed(std::function<Status(const File&, double)> then) { state_->then = std::move(then); }

namespace {

struct Work {
  bool write = false, read = false, partial = false, supplied = false, xdmf = false, refused = false;
  Convention convention = Convention::none;
};

// Ranks may have different things pending; all of them do everything that any of them needs.
Result<Work> agree_work(const File::State& state) {
  const bool writes = !state.puts.empty() || !state.attributes.empty() || !state.unlimited.empty() ||
                      !state.named.empty() || !state.groups.empty() || !state.removed.empty();
  const bool first = state.mode == Mode::create && !state.exists;
  const bool misused = !state.misuse.ok();
  const bool supplied = std::ranges::any_of(state.puts, [](const Pending& p) { return p.supplier != nullptr; });
  int64_t any[7] = {writes || first || (misused && state.mode != Mode::read),
                    !state.gets.empty() || (misused && state.mode == Mode::read),
                    state.partial,
                    supplied,
                    state.xdmf,
                    static_cast<int64_t>(state.convention),
                    !state.refused.ok()};
  PENSTOCK_TRY(state.target.comm->all_reduce_max(any));
  return Work{
      any[0] != 0, any[1] != 0, any[2] != 0, any[3] != 0, any[4] != 0, any[6] != 0, static_cast<Convention>(any[5])};
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
  if (state.behind_comm == nullptr) return;
  report.messages += sign * state.behind_comm->messages_sent();
  report.message_bytes += sign * state.behind_comm->bytes_sent();
}

void show_step(File::State& state, bool writes) {
  state.shown.begin({writes, state.target.path, state.report.plan, state.target.token, state.target.comm->rank(),
                     state.target.comm->size(), state.commits, state.report.bytes});
}

Status finish_work(File::State& state) {
  if (!state.writing) return {};
  const Status status = finish_writing(state);
  count(state, 1);
  end_step(state, status);
  state.shown.end();
  return status;
}

Status start_work(File::State& state, bool behind) {
  state.harmless = false;
  PENSTOCK_TRY(finish_work(state));
  PENSTOCK_ASSIGN(const Work work, agree_work(state));
  state.harmless = work.refused || (state.forgetful && !work.write);
  if (work.refused) return agree(state.target.comm, state.refused);
  if (!work.write && !work.read) return {};
  state.partial = work.partial;
  state.supplied = work.supplied;
  state.xdmf = work.xdmf;
  state.convention = work.convention;
  state.report = {};
  state.report.plan = state.plan.text(catalog());
  state.report.filesystem = state.filesystem;
  state.report.warnings = state.warnings;
  state.report.bytes = pending_bytes(state.puts) + pending_bytes(state.gets);
  begin_step(state, work.write);
  show_step(state, work.write);
  count(state, -1);
  Status status = work.read ? read_pending(state) : Status();
  if (status.ok() && work.write) status = start_writing(state, behind);
  if (status.ok() && work.write) return status;
  if (state.harmless) state.gets.clear();
  count(state, 1);
  end_step(state, status);
  state.shown.end();
  return status;
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
  PENSTOCK_TRY(check_usable(state));
  const Calling calling(state.target.comm, "commit", state.target.path);
  const CommitTimer timer(state);
  const Status started = start_work(state, false);
  if (started.ok() && handed_over(state)) return {};  // servers continue by themselves
  return conclude(state, started.ok() ? finish_work(state) : started);
}

Status File::commit_start() {
  PENSTOCK_TRY(check_usable(*state_));
  const Calling calling(state_->target.comm, "commit_start", state_->target.path);
  const CommitTimer timer(*state_);
  return conclude(*state_, start_work(*state_, true));
}

Result<bool> File::commit_test() {
  PENSTOCK_TRY(check_usable(*state_));
  auto done = test_writing(*state_);
  if (!done.ok()) return true;  // finish reports the error, on all ranks
  return done;
}

Status File::commit_wait() {
  PENSTOCK_TRY(check_usable(*state_));
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
  state.gets.clear();
  const auto then = std::exchange(state.then, {});
  return status.ok() && then ? then(*this, state.commit_seconds) : status;
}

}  // namespace penstock
