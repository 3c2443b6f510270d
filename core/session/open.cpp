// Opening: data that the ranks share before a file is created, read or changed.
#include "core/session/open.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <penstock/file.hpp>
#include <penstock/timeout.hpp>

#include "core/access/recognise.hpp"
#include "core/base/crc64.hpp"
#include "core/base/encode.hpp"
#include "core/comm/calling.hpp"
#include "core/commit/method.hpp"
#include "core/engine/engine.hpp"
#include "core/format/format.hpp"
#include "core/methods/methods.hpp"
#include "core/plan/override.hpp"
#include "core/session/bind.hpp"
#include "core/session/state.hpp"
#include "core/session/striping.hpp"
#include "core/storage/owner.hpp"
#include "core/storage/target.hpp"

namespace penstock {
namespace {

// Data from rank 0 for all ranks: the arguments of the collective call, and its findings.
struct Opening {
  Status status;
  std::string path, plan, asked;
  uint64_t token = 0;
  std::string chosen = {};  // the plan, unless the user overrides it outside the program
  FileSystemKind file_system = {};
  Hints hints = {};                     // of the environment
  std::string owner = {}, others = {};  // of new partial files, and about existing ones of others
  ReadWisdom known = {};                // for the file system
  std::optional<OutputProfile> profile = {};
};

// The comparison of arguments comes first: answers of ranks in another call are then known to belong to that call.
Result<Opening> share(const Communicator& comm, Opening mine) {
  Encoder said;
  said.text(mine.asked);
  said.text(mine.plan);
  const auto hash = static_cast<int64_t>(crc64(said.take()) >> 2);
  int64_t bounds[2] = {hash, -hash};
  PENSTOCK_TRY(comm->all_reduce_max(bounds));
  Encoder out;
  out.value(mine.status.code());
  out.text(mine.status.message());
  out.text(mine.path);
  out.text(mine.plan);
  out.text(mine.asked);
  out.value(mine.token);
  out.text(mine.chosen);
  out.text(mine.file_system.text);
  out.value(mine.file_system.has_stripes);
  out.text(mine.owner);
  out.text(mine.others);
  out.value(static_cast<int64_t>(mine.hints.size()));
  for (const auto& [name, value] : mine.hints) {
    out.text(name);
    out.text(value);
  }
  out.text(mine.known.wisdom.empty() ? std::string() : text_of(mine.known.wisdom));
  out.value(std::ssize(mine.known.warnings));
  for (const std::string& warning : mine.known.warnings) out.text(warning);
  out.text(mine.profile ? mine.profile->file : "");
  out.text(mine.profile ? mine.profile->text : "");
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
  all.chosen = in.text();
  all.file_system.text = in.text();
  all.file_system.has_stripes = in.value<bool>();
  all.owner = in.text();
  all.others = in.text();
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    std::string name = in.text();
    all.hints.emplace(std::move(name), in.text());
  }
  if (const std::string wisdom = in.text(); !wisdom.empty()) {
    PENSTOCK_ASSIGN(all.known.wisdom, parse_wisdom(wisdom, {}));
  }
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) all.known.warnings.push_back(in.text());
  if (std::string file = in.text(); !file.empty()) all.profile = OutputProfile{std::move(file), in.text(), {}, {}};
  Status alike;
  if (all.asked != mine.asked || all.plan != mine.plan)
    alike = {Code::mismatch,
             fmt::format("this rank opens '{}' with plan '{}', rank 0 '{}' with '{}': all ranks must ask for the same",
                         mine.asked, mine.plan, all.asked, all.plan)};
  if (bounds[0] != -bounds[1]) PENSTOCK_TRY(agree(comm, alike));
  if (!all.status.ok()) return all.status;
  return all;
}

int64_t default_capture_bytes(const Communicator& comm) {
  return static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE) / 4 / std::max(1, comm->node_size());
}

std::unique_ptr<File::State> new_state(const Communicator& comm, Mode mode) {
  auto state = std::make_unique<File::State>();
  state->target.comm = comm;
  state->mode = mode;
  state->target.storage = std::make_shared<CountedStorage>(posix_storage({}, comm->threads_allowed()));
  state->capture_bytes = default_capture_bytes(comm);
  return state;
}

// For a file that will be written.
void look_beside(File::State& state, Opening& opening) {
  opening.owner = text(this_process());
  Beside beside = look_beside(*state.target.storage, opening.path);
  opening.others = std::move(beside.others);
  state.target.parts_beside = beside.parts;
}

void set_partial_files(File::State& state, const Opening& agreed) {
  state.target.owner = agreed.owner;
  if (!agreed.others.empty()) state.warnings.push_back(agreed.others);
}

Status choose_plan(Opening& opening, bool as_said = false) {
  opening.chosen = opening.plan;
  if (!as_said) {
    PENSTOCK_ASSIGN(opening.chosen, plan_override(opening.asked, opening.plan, process_environment()));
  }
  PENSTOCK_ASSIGN(opening.hints, hints_of_environment(process_environment()));
  return {};
}

// Of a file whose plan names no transport.
void set_wisdom(File::State& state, const Opening& agreed) {
  if (!state.plan.open_transport) return;
  state.wisdom = agreed.known.wisdom;
  state.bound = default_transport;
  state.warnings.insert(state.warnings.end(), agreed.known.warnings.begin(), agreed.known.warnings.end());
}

// Warns about a queue depth that this machine does not support.
void warn_of_depth(File::State& state) {
  const Settings& settings = state.plan.settings;
  if (!settings.all().contains("queue_depth") || settings.integer("queue_depth") == 1 || has_io_uring()) return;
  state.warnings.push_back(
      fmt::format("queue_depth={} has no effect: no io_uring in this build, or the kernel or a container refuses it",
                  settings.integer("queue_depth")));
}

// The size of the session's own buffer.
int64_t buffer_bytes(const Settings& settings) {
  constexpr int64_t most = 16 << 20;
  const int64_t memory = settings.integer("memory_bytes");  // 0 for an engine
  return memory == 0 ? most : std::min(most, memory / 4);
}

Status set_plan(File::State& state, std::string_view text, std::string_view format) {
  PENSTOCK_ASSIGN(state.plan, parse_plan(text, format, vocabulary()));
  state.warnings = environment_warnings(state.plan.environment, process_environment());
  if (std::string wrong = timeout_warning(); !wrong.empty()) state.warnings.push_back(std::move(wrong));
  warn_of_depth(state);
  Target& target = state.target;
  const Settings& settings = state.plan.settings;
  target.set = is_set(state.plan);
  target.durable = settings.word("durability") == "full";
  target.preallocate = settings.boolean("preallocate");
  target.parity =
      target.set && (settings.word("parity") == "1" || (state.mode == Mode::change && state.file->contents.parity));
  target.buffer_bytes = buffer_bytes(settings);
  if (state.mode != Mode::read && settings.word("parity") == "1" && !target.set)
    return {Code::unsupported,
            "parity=1 is for sets of files, whose parts it can rebuild; of a single file there is "
            "nothing to rebuild it from: add placement=parts, per_rank or rank_order"};
  PENSTOCK_ASSIGN(state.method, make_method(state.plan, state.mode != Mode::read, state.mode != Mode::create));
  target.method = state.method->facts();
  return {};
}

// Uses the extension of PATH if TEXT does not name the format.
Status set_plan_of_new(File::State& state, const Opening& opening, const std::string& path) {
  const std::string& text = opening.chosen;
  const std::string_view format = format_of_path(path);
  const Status status = set_plan(state, text, format);
  if (status.ok()) return {};
  const std::string context = text.empty()
                                  ? fmt::format("creating '{}'", path)
                                  : fmt::format("creating '{}' with plan '{}'{}", path, text,
                                                text == opening.plan ? "" : " of PENSTOCK_PLAN or PENSTOCK_PLANS");
  if (!format.empty() || !set_plan(state, text, "hdf5").ok()) return status.in(context);
  return {
      Code::invalid,
      fmt::format("{}: its extension does not say in which format ({}), nor does a plan: name one of them, 'hdf5' or "
                  "'netcdf/two_phase:writers=2'",
                  context, known_extensions_text())};
}

// The rules of the output profile for the new file.
Status set_profile(File::State& state, const Opening& opening, const std::string& path) {
  state.profile = opening.profile;
  if (!state.profile) return {};
  PENSTOCK_TRY(parse_output_profile(*state.profile));
  PENSTOCK_TRY(choose_rules(*state.profile, path, state.plan));
  if (state.profile->rules.empty()) state.profile.reset();
  return {};
}

Status read_profile(File::State& state, Opening& opening, const std::string& path) {
  PENSTOCK_ASSIGN(opening.profile, read_output_profile(process_environment()));
  return set_profile(state, opening, path);
}

// Whether a file can be written at PATH, and the one that is there.
Status look_at_target(File::State& state, const std::string& path, bool replaces_folder) {
  PENSTOCK_ASSIGN(state.target.expected_file, check_target(*state.target.storage, path, replaces_folder));
  return {};
}

}  // namespace

Result<std::string> plan_of_new(const Communicator& comm, const std::string& path, std::string_view plan) {
  const auto state = new_state(comm, Mode::create);
  Opening opening{{}, path, std::string(plan), path, {}};
  PENSTOCK_TRY(choose_plan(opening));
  PENSTOCK_TRY(set_plan_of_new(*state, opening, path));
  return state->plan.text(vocabulary());
}

Result<File> File::create(const Communicator& comm, std::string path, std::string_view plan) {
  const Calling calling(comm, "create", path, false);
  auto state = new_state(comm, Mode::create);
  Opening opening{{}, path, std::string(plan), path, random_token()};
  if (comm->rank() == 0) {
    opening.status = choose_plan(opening);
    if (opening.status.ok()) opening.status = set_plan_of_new(*state, opening, path);
    if (opening.status.ok()) opening.status = read_profile(*state, opening, path);
    if (opening.status.ok()) {
      opening.path = resolve_link(published_path(path, state->target));
      opening.status = look_at_target(*state, opening.path, state->method->may_replace(opening.path));
      opening.file_system = find_file_system(opening.path);
      if (state->plan.open_transport) opening.known = known_wisdom(opening.file_system.text, true, state->plan.format);
      if (opening.status.ok()) look_beside(*state, opening);
    }
  }
  PENSTOCK_ASSIGN(const Opening agreed, share(comm, std::move(opening)));
  PENSTOCK_TRY(set_plan_of_new(*state, agreed, path));
  PENSTOCK_TRY(set_profile(*state, agreed, path));
  state->target.path = agreed.path;
  state->target.token = agreed.token;
  set_partial_files(*state, agreed);
  state->environment_hints = agreed.hints;
  set_hints(*state);
  set_wisdom(*state, agreed);
  PENSTOCK_TRY(set_striping(*state, agreed.file_system));
  return File(std::move(state));
}

namespace {

// Checks that the plan can read, or change, the recognised format.
Status check_reader(const File::State& state, Mode mode) {
  const std::string& there = state.file->contents.format;
  const std::string where = fmt::format("'{}'", state.target.path);
  if (mode == Mode::change && state.target.method.at_once) return state.method->check_keep().in(where);
  if (mode == Mode::change && state.target.method.format != there)
    return {Code::mismatch, fmt::format("{} is {}, the plan says {}: reopen keeps the format", where, there,
                                        state.target.method.format)};
  return state.method->check_format(there).in(where);
}

// Lost parts of a set are an error, unless the reader asked for zeros instead; then a warning.
Status check_lost(File::State& state, Mode mode) {
  const auto& lost = state.file->contents.lost;
  if (lost.empty()) return {};
  const auto& settings = state.plan.settings.all();
  const auto found = settings.find("lost_parts");
  size_t count = 0;
  for (const Contents::Lost& part : lost) count += part.boxes.size();
  if (mode == Mode::read && found != settings.end() && found->second == "zeros") {
    for (const Contents::Lost& part : lost) {
      state.warnings.push_back(part.why.message());
      for (const std::string& box : part.boxes) state.warnings.push_back("lost, and read as zeros: " + box);
    }
    state.report.warnings = state.warnings;
    return {};
  }
  constexpr size_t most = 3;
  std::string told;
  for (size_t i = 0; i < std::min(most, lost[0].boxes.size()); ++i)
    told += (i == 0 ? "; with it went " : ", ") + lost[0].boxes[i];
  if (count > most) told += fmt::format(", ... ({} pieces in all)", count);
  const std::string others = lost.size() > 1 ? fmt::format(" (and {} more parts)", lost.size() - 1) : "";
  const std::string remedy = state.file->contents.parity && lost.size() == 1
                                 ? fmt::format("it can be rebuilt: 'penstock verify --repair {}'", state.target.path)
                                 : "lost_parts=zeros in the plan reads the rest";
  return {lost[0].why.code(), fmt::format("'{}' has lost a part{}: {}{}; {}", state.target.path, others,
                                          lost[0].why.message(), told, remedy)};
}

void warn_of_unread(File::State& state) {
  constexpr size_t most = 20;
  const auto& unread = state.file->contents.unread;
  for (size_t i = 0; i < std::min(most, unread.size()); ++i)
    state.warnings.push_back(fmt::format("not read: {}", unread[i]));
  if (unread.size() > most)
    state.warnings.push_back(fmt::format("not read: {} more, which 'penstock info --all' lists", unread.size() - most));
  state.report.warnings = state.warnings;
}

Result<std::unique_ptr<File::State>> open_state(const Communicator& comm, std::string path, std::string_view plan,
                                                Mode mode, bool as_said = false) {
  const Calling calling(comm, mode == Mode::read ? "open" : "reopen", path, false);
  auto state = new_state(comm, mode);
  Opening opening{{}, path, std::string(plan), path, random_token()};
  if (comm->rank() == 0) {
    opening.status = choose_plan(opening, as_said);
    if (path.empty()) opening.status = {Code::invalid, "the path is empty"};
    if (!state->target.storage->stat(path).ok() && state->target.storage->stat(path + ".json").ok())
      opening.path = path + ".json";
    opening.path = resolve_link(opening.path);  // the parts of a set are beside the file, not beside the link
    opening.file_system = find_file_system(opening.path);
    if (const auto said = parse_plan(opening.chosen, "hdf5", vocabulary()); said.ok() && said->open_transport)
      opening.known = known_wisdom(opening.file_system.text, mode == Mode::change, {});  // the format is not known yet
    if (mode == Mode::change && opening.status.ok())
      opening.status = look_at_target(*state, opening.path, recognising_engine(opening.path) != nullptr);
    if (mode == Mode::change && opening.status.ok()) look_beside(*state, opening);
  }
  PENSTOCK_ASSIGN(const Opening agreed, share(comm, std::move(opening)));
  state->target.path = agreed.path;
  state->target.token = agreed.token;
  PENSTOCK_ASSIGN(Contents contents, read_contents(comm, *state->target.storage, state->target.path));
  state->file = Published{std::move(contents), state->target.path};
  // Files that only an engine can read use that engine, unless the plan says otherwise.
  const bool by_engine = agreed.chosen.empty() && find_format(state->file->contents.format) == nullptr;
  PENSTOCK_TRY(set_plan(*state, by_engine ? state->file->contents.format : agreed.chosen, state->file->contents.format)
                   .in(agreed.chosen.empty()
                           ? fmt::format("opening '{}'", state->target.path)
                           : fmt::format("opening '{}' with plan '{}'", state->target.path, agreed.chosen)));
  PENSTOCK_TRY(check_reader(*state, mode));
  PENSTOCK_TRY(check_lost(*state, mode));
  warn_of_unread(*state);
  set_partial_files(*state, agreed);
  state->environment_hints = agreed.hints;
  set_hints(*state);
  set_wisdom(*state, agreed);
  PENSTOCK_TRY(set_striping(*state, agreed.file_system));
  PENSTOCK_TRY(agree(comm, hold(state->target)));
  if (mode == Mode::change && !state->file->contents.left_out.empty())
    return Status(Code::unsupported, fmt::format("'{}' cannot be changed without loss: {}", state->target.path,
                                                 state->file->contents.left_out));
  if (mode == Mode::change && !state->file->contents.converted.empty())
    return Status(Code::unsupported, fmt::format("'{}' cannot be changed in place: {}; copy it, and change the copy",
                                                 state->target.path, state->file->contents.converted));
  return state;
}

}  // namespace

Result<File> File::open(const Communicator& comm, std::string path, std::string_view plan) {
  PENSTOCK_ASSIGN(auto state, open_state(comm, std::move(path), plan, Mode::read));
  return File(std::move(state));
}

Result<File> File::open_to_check(const Communicator& comm, const std::string& path, bool what_is_left) {
  auto state = open_state(comm, path, {}, Mode::read, true);
  const Code code = state.status().code();
  if (what_is_left && (code == Code::damaged || code == Code::not_found)) {
    auto rest = open_state(comm, path, "independent:lost_parts=zeros", Mode::read, true);
    if (rest.ok()) state = std::move(rest);
  }
  if (!state.ok()) return state.status();
  return File(*std::move(state));
}

Result<File> File::reopen(const Communicator& comm, std::string path, std::string_view plan) {
  PENSTOCK_ASSIGN(auto state, open_state(comm, std::move(path), plan, Mode::change));
  return File(std::move(state));
}

}  // namespace penstock
