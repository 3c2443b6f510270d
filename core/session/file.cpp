// File: the local calls of the public interface.
#include <penstock/file.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/methods/dataset_options.hpp"
#include "core/methods/methods.hpp"
#include "core/model/dimension_names.hpp"
#include "core/model/widen.hpp"
#include "core/session/state.hpp"
#include "core/session/take.hpp"

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
  return state.remember(take(state, *std::move(pending), true));
}

Status File::lend(std::string_view name, ElementType type, const Decomposition& part, const void* data,
                  const Memory& memory) {
  State& state = *state_;
  PENSTOCK_TRY(state.remember(check_writable(state)));
  auto pending = make_pending(state, name, type, part, data, memory);
  if (!pending.ok()) return state.remember(pending.status());
  return state.remember(take(state, *std::move(pending), false));
}

void File::set_meant(std::string word) {
  if (state_->took) state_->puts.back().meant = std::move(word);
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
  return state.remember(take(state, *std::move(pending), false));
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
  PENSTOCK_TRY(state.remember(check_shape(attribute.type, attribute.shape).in(attribute.name)));
  if (static_cast<int64_t>(attribute.value.size()) != elements(attribute.shape) * bytes(attribute.type))
    return state.remember(
        {Code::invalid, fmt::format("attribute '{}' has {} bytes, its type and shape have {}", attribute.name,
                                    attribute.value.size(), elements(attribute.shape) * bytes(attribute.type))});
  const std::string key = attribute.name;
  state.declared.attributes[*stored].insert_or_assign(key, std::move(attribute));
  return {};
}

Status File::make_group(std::string_view name) {
  PENSTOCK_TRY(state_->remember(check_writable(*state_)));
  auto stored = object_name(name);
  if (!stored.ok()) return state_->remember(stored.status());
  if (stored->empty()) return state_->remember({Code::invalid, "a group needs a name"});
  state_->declared.groups.insert(*std::move(stored));
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
  std::erase_if(state.cut, [&](const auto& one) { return goes(one.first); });
  found += std::erase_if(state.left_out, goes);
  std::erase_if(state.declared.options, [&](const auto& one) { return goes(one.first); });
  found += std::erase_if(state.declared.attributes, [&](const auto& one) { return goes(one.first); });
  for (auto* names : {&state.declared.unlimited, &state.declared.named, &state.declared.groups})
    found += std::erase_if(*names, goes);
  if (has(*stored) && state.declared.removed.insert(*stored).second) ++found;
  if (found > 0) return {};
  if (state.leaves_out(*stored)) return {};
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
  state_->declared.named.insert(*std::move(stored));
  return {};
}

Status File::set_unlimited(std::string_view name) {
  PENSTOCK_TRY(state_->remember(check_writable(*state_)));
  auto stored = dataset_name(name);
  if (!stored.ok()) return state_->remember(stored.status());
  state_->declared.unlimited.insert(*std::move(stored));
  return {};
}

Status File::set_options(std::string_view name, std::string_view options) {
  State& state = *state_;
  PENSTOCK_TRY(state.remember(check_writable(state)));
  auto stored = dataset_name(name);
  if (!stored.ok()) return state.remember(stored.status());
  auto parsed = parse_dataset_options(options, state.plan);
  if (!parsed.ok()) return state.remember(parsed.status().in(fmt::format("options of '{}'", *stored)));
  const auto known = state.dataset_options.find(*stored);
  const bool same = known != state.dataset_options.end() && known->second.text == parsed->text;
  if (!same && std::ranges::any_of(state.puts, [&](const Pending& put) { return put.name == *stored; }))
    return state.remember({Code::invalid, fmt::format("options of '{}': set them before it is put", *stored)});
  state.dataset_options.insert_or_assign(*std::move(stored), *std::move(parsed));
  return {};
}

Status File::get_now(std::string_view name, ElementType type, const Decomposition& part, void* data,
                     const Memory& memory) {
  State& state = *state_;
  PENSTOCK_TRY(state.usable());
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
void File::set_partial(bool partial) { state_->options.partial = partial; }
void File::set_xdmf(bool xdmf) { state_->options.xdmf = xdmf; }

Status File::set_conventions(std::string_view convention) {
  auto parsed = parse_convention(convention);
  if (!parsed) {
    remember_failure(parsed.status());
    return parsed.status();
  }
  state_->options.convention = *parsed;
  return {};
}
void File::set_capture_bytes(int64_t bytes) { state_->capture_bytes = bytes; }

const std::string& File::path() const { return state_->target.path; }
std::string File::plan() const { return state_->plan.text(vocabulary()); }
const Report& File::report() const { return state_->report; }
const Communicator& File::communicator() const { return state_->target.comm; }
void File::set_step(int64_t number) { state_->series_step = number; }
void File::when_closed(std::function<Status(const File&, double)> then) { state_->then = std::move(then); }

}  // namespace penstock
