// File: the public face of a session: opening, the local calls, and when commit does what.
#include <penstock/file.hpp>

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "core/base/encode.hpp"
#include "core/base/units.hpp"
#include "core/session/methods.hpp"
#include "core/session/state.hpp"

namespace penstock {
namespace {

// A link as target is followed, so that the rename replaces the file and not the link; also one that leads to nothing
// yet.
std::string resolve_link(std::string path) {
  char resolved[PATH_MAX];
  for (int links = 0; links < 40; ++links) {
    if (::realpath(path.c_str(), resolved) != nullptr) return resolved;
    const ssize_t length = ::readlink(path.c_str(), resolved, sizeof resolved);
    if (length <= 0 || length == sizeof resolved) break;
    const std::string target(resolved, static_cast<size_t>(length));
    path = target.starts_with('/') ? target : folder_of(path) + target;
  }
  return path;
}

Status check_target(Storage& storage, const std::string& path) {
  if (path.empty()) return {Code::invalid, "the path is empty"};
  const std::string folder = folder_of(path).empty() ? "." : folder_of(path);
  const auto place = storage.stat(folder);
  if (!place.ok()) return place.status().in(fmt::format("cannot create '{}'", path));
  if (!place->directory) return {Code::not_found, fmt::format("cannot create '{}': '{}' is no folder", path, folder)};
  if (!place->writable)
    return {Code::denied, fmt::format("cannot create '{}': folder '{}' is not writable", path, folder)};
  const auto there = storage.stat(path);
  if (there.ok() && there->directory) return {Code::exists, fmt::format("cannot create '{}': it is a folder", path)};
  if (path.ends_with('/'))
    return {Code::invalid, fmt::format("cannot create '{}': it names a folder, not a file", path)};
  return {};
}

// What rank 0 knows and all ranks use: the arguments of the collective call, and its findings.
struct Opening {
  Status status;
  std::string path, plan, asked;
  uint64_t token = 0;
};

Result<Opening> share(const Communicator& comm, Opening mine) {
  Encoder out;
  out.value(mine.status.code());
  out.text(mine.status.message());
  out.text(mine.path);
  out.text(mine.plan);
  out.text(mine.asked);
  out.value(mine.token);
  auto bytes = out.take();
  PENSTOCK_TRY(comm->broadcast(bytes, 0));
  Decoder in(bytes);
  Opening all;
  const auto code = in.value<Code>();
  const std::string message = in.text();
  all.status = {code, message};
  all.path = in.text();
  all.plan = in.text();
  all.asked = in.text();
  all.token = in.value<uint64_t>();
  Status alike;
  if (all.asked != mine.asked || all.plan != mine.plan)
    alike = {Code::mismatch,
             fmt::format("this rank opens '{}' with plan '{}', rank 0 '{}' with '{}': all ranks must ask for the same",
                         mine.asked, mine.plan, all.asked, all.plan)};
  PENSTOCK_TRY(agree(comm, alike));
  if (!all.status.ok()) return all.status;
  return all;
}

int64_t default_capture_bytes(const Communicator& comm) {
  return static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE) / 4 / std::max(1, comm->node_size());
}

std::unique_ptr<File::State> new_state(const Communicator& comm, Mode mode) {
  auto state = std::make_unique<File::State>();
  state->comm = comm;
  state->mode = mode;
  state->storage = std::make_shared<TracedStorage>(posix_storage());
  state->capture_bytes = default_capture_bytes(comm);
  return state;
}

uint64_t random_token() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

Status set_plan(File::State& state, std::string_view text, std::string_view format) {
  PENSTOCK_ASSIGN(state.plan, parse_plan(text, format, catalog()));
  state.format = find_format(state.plan.format);
  state.transport = find_transport(state.plan.transport);
  return {};
}

// The sidecar is what is published for raw data.
std::string published_path(std::string path, std::string_view format) {
  if (format == "raw" && !path.ends_with(".json")) path += ".json";
  return path;
}

}  // namespace

File::File(std::unique_ptr<State> state) : state_(std::move(state)) {}
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

Result<File> File::create(const Communicator& comm, std::string path, std::string_view plan) {
  auto state = new_state(comm, Mode::create);
  Opening opening{{}, path, std::string(plan), path, random_token()};
  if (comm->rank() == 0) {
    opening.status = set_plan(*state, plan, format_of_path(path));
    if (opening.status.ok()) {
      opening.path = resolve_link(published_path(path, state->plan.format));
      opening.status = check_target(*state->storage, opening.path);
    }
  }
  PENSTOCK_ASSIGN(const Opening agreed, share(comm, std::move(opening)));
  PENSTOCK_TRY(set_plan(*state, plan, format_of_path(path)));
  state->path = agreed.path;
  state->token = agreed.token;
  return File(std::move(state));
}

namespace {

Result<std::unique_ptr<File::State>> open_state(const Communicator& comm, std::string path, std::string_view plan,
                                                Mode mode) {
  auto state = new_state(comm, mode);
  Opening opening{{}, path, std::string(plan), path, random_token()};
  if (comm->rank() == 0) {
    if (path.empty()) opening.status = {Code::invalid, "the path is empty"};
    if (!state->storage->stat(path).ok() && state->storage->stat(path + ".json").ok()) opening.path = path + ".json";
    if (mode == Mode::change && opening.status.ok()) {
      opening.path = resolve_link(opening.path);
      opening.status = check_target(*state->storage, opening.path);
    }
  }
  PENSTOCK_ASSIGN(const Opening agreed, share(comm, std::move(opening)));
  state->path = agreed.path;
  state->token = agreed.token;
  PENSTOCK_ASSIGN(state->contents, read_contents(comm, *state->storage, state->path));
  PENSTOCK_TRY(set_plan(*state, plan, state->contents->format).in(fmt::format("opening '{}'", state->path)));
  if (mode == Mode::change && state->plan.format != state->contents->format)
    return Status(Code::mismatch, fmt::format("'{}' is {}, the plan says {}: reopen keeps the format", state->path,
                                              state->contents->format, state->plan.format));
  state->published = true;
  return state;
}

}  // namespace

Result<File> File::open(const Communicator& comm, std::string path, std::string_view plan) {
  PENSTOCK_ASSIGN(auto state, open_state(comm, std::move(path), plan, Mode::read));
  return File(std::move(state));
}

Result<File> File::reopen(const Communicator& comm, std::string path, std::string_view plan) {
  PENSTOCK_ASSIGN(auto state, open_state(comm, std::move(path), plan, Mode::change));
  return File(std::move(state));
}

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
  return Pending{std::move(stored), type, part, memory, static_cast<std::byte*>(const_cast<void*>(data)), nullptr};
}

Status check_writable(const File::State& state) {
  if (state.mode != Mode::read) return {};
  return {Code::invalid, fmt::format("'{}' was opened to read: use reopen to change it", state.path)};
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

namespace {

// TYPE and the shape that PART names are those of the dataset in the file.
Status check_get(const File::State& state, const Pending& wanted) {
  if (!state.contents)
    return {Code::not_found, fmt::format("'{}': nothing was written yet that could be read", wanted.name)};
  const Dataset* there = state.contents->catalogue.find(wanted.name);
  if (there == nullptr)
    return {Code::not_found, fmt::format("there is no dataset '{}' in '{}'", wanted.name, state.path)};
  if (there->type != wanted.type)
    return {Code::mismatch, fmt::format("'{}' is {} in '{}', but {} is asked for", wanted.name, describe(*there),
                                        state.path, name(wanted.type))};
  Dims stored = there->shape;
  const auto form = wanted.part.form();
  const bool rows = form == Decomposition::Form::ragged || form == Decomposition::Form::per_rank;
  if (rows && stored.rank() > 0) stored = Dims(std::span(stored.begin() + 1, stored.end()));
  if (!(stored == wanted.part.shape()) || (rows && there->shape.rank() == 0))
    return {Code::mismatch, fmt::format("'{}' is {} in '{}', but {} {} is asked for", wanted.name, describe(*there),
                                        state.path, rows ? "rows of" : "shape", describe(wanted.part.shape()))};
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
  const std::string key = attribute.name;
  state.attributes[*stored].insert_or_assign(key, std::move(attribute));
  return {};
}

Status File::set_unlimited(std::string_view name) {
  PENSTOCK_TRY(state_->remember(check_writable(*state_)));
  auto stored = dataset_name(name);
  if (!stored.ok()) return state_->remember(stored.status());
  state_->unlimited.insert(*std::move(stored));
  return {};
}

void File::remember_failure(const Status& status) { (void)state_->remember(status); }
void File::set_partial(bool partial) { state_->partial = partial; }
void File::set_capture_bytes(int64_t bytes) { state_->capture_bytes = bytes; }

std::vector<DatasetInfo> File::datasets() const {
  std::vector<DatasetInfo> list;
  if (state_->contents)
    for (const Dataset& d : state_->contents->catalogue.datasets)
      list.push_back({d.name, d.type, d.shape, d.unlimited});
  return list;
}

Result<DatasetInfo> File::dataset(std::string_view name) const {
  PENSTOCK_ASSIGN(const std::string stored, dataset_name(name));
  const Dataset* d = state_->contents ? state_->contents->catalogue.find(stored) : nullptr;
  if (d == nullptr)
    return Status(Code::not_found, fmt::format("there is no dataset '{}' in '{}'", stored, state_->path));
  return DatasetInfo{d->name, d->type, d->shape, d->unlimited};
}

std::vector<Attribute> File::attributes(std::string_view object) const {
  std::vector<Attribute> list;
  const auto stored = object_name(object);
  if (!stored.ok() || !state_->contents) return list;
  const auto at = state_->contents->catalogue.attributes.find(*stored);
  if (at != state_->contents->catalogue.attributes.end())
    for (const auto& [name, attribute] : at->second) list.push_back(attribute);
  return list;
}

Result<Attribute> File::attribute(std::string_view object, std::string_view name) const {
  for (Attribute& attribute : attributes(object))
    if (attribute.name == name) return std::move(attribute);
  return Status(Code::not_found, fmt::format("there is no attribute '{}' of '{}' in '{}'", name,
                                             object.empty() ? "/" : object, state_->path));
}

const std::string& File::path() const { return state_->path; }
std::string File::plan() const { return state_->plan.text(catalog()); }
const Report& File::report() const { return state_->report; }

namespace {

struct Work {
  bool write = false, read = false;
};

// Ranks may have different things pending; all of them do what one of them has to.
Result<Work> agree_work(const File::State& state) {
  const bool writes = !state.puts.empty() || !state.attributes.empty() || !state.unlimited.empty();
  const bool first = state.mode == Mode::create && !state.published;
  int64_t any[2] = {writes || first || (!state.misuse.ok() && state.mode != Mode::read),
                    !state.gets.empty() || (!state.misuse.ok() && state.mode == Mode::read)};
  PENSTOCK_TRY(state.comm->all_reduce_max(any));
  return Work{any[0] != 0, any[1] != 0};
}

int64_t pending_bytes(const std::vector<Pending>& pending) {
  int64_t sum = 0;
  for (const Pending& p : pending) sum += p.part.elements() * bytes(p.type);
  return sum;
}

Status do_work(File::State& state) {
  PENSTOCK_ASSIGN(const Work work, agree_work(state));
  if (!work.write && !work.read) return {};
  state.report = {};
  state.report.plan = state.plan.text(catalog());
  state.report.bytes = pending_bytes(state.puts) + pending_bytes(state.gets);
  const StorageCounts before = state.storage->counts();
  const int64_t messages = state.comm->messages_sent(), message_bytes = state.comm->bytes_sent();
  if (work.read) PENSTOCK_TRY(read_pending(state));
  if (work.write) PENSTOCK_TRY(write_pending(state));
  const StorageCounts after = state.storage->counts();
  state.report.file_calls = after.writes - before.writes + after.reads - before.reads;
  state.report.file_bytes = after.write_bytes - before.write_bytes + after.read_bytes - before.read_bytes;
  state.report.metadata_calls = after.metadata - before.metadata;
  state.report.messages = state.comm->messages_sent() - messages;
  state.report.message_bytes = state.comm->bytes_sent() - message_bytes;
  return {};
}

}  // namespace

Status File::commit() {
  State& state = *state_;
  if (state.closed) return {Code::invalid, "the file is closed"};
  if (!state.outcome.ok()) return state.outcome;
  state.outcome = do_work(state).in(fmt::format("'{}'", state.path));
  return state.outcome;
}

Status File::close() {
  State& state = *state_;
  if (state.closed) return {Code::invalid, "the file is closed already"};
  const Status status = commit();
  state.closed = true;
  state.puts.clear();
  state.gets.clear();
  return status;
}

}  // namespace penstock
