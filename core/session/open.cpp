// Opening: what the ranks share before a file is created, read or changed.
#include <penstock/file.hpp>

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "core/base/encode.hpp"
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
  if (there.ok() && !there->regular)
    return {Code::exists, fmt::format("cannot create '{}': it is no regular file", path)};
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

Status hold(File::State& state) {
  if (state.comm->rank() != 0) return {};
  PENSTOCK_ASSIGN(state.held, state.storage->open(state.path, Io::buffered, false));
  PENSTOCK_ASSIGN(state.held_stat, state.storage->stat(state.path));
  return {};
}

Status check_held(File::State& state) {
  Status status;
  if (state.comm->rank() == 0) {
    const auto now = state.storage->stat(state.path);
    if (!now.ok() || now->inode != state.held_stat.inode || now->device != state.held_stat.device)
      status = {Code::mismatch, "somebody replaced the file since it was opened: open it again"};
  }
  return agree(state.comm, status);
}

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
    opening.path = resolve_link(opening.path);  // the parts of a set lie beside the file, not beside the link
    if (mode == Mode::change && opening.status.ok()) opening.status = check_target(*state->storage, opening.path);
  }
  PENSTOCK_ASSIGN(const Opening agreed, share(comm, std::move(opening)));
  state->path = agreed.path;
  state->token = agreed.token;
  PENSTOCK_ASSIGN(state->contents, read_contents(comm, *state->storage, state->path));
  PENSTOCK_TRY(set_plan(*state, plan, state->contents->format).in(fmt::format("opening '{}'", state->path)));
  if (mode == Mode::change && state->plan.format != state->contents->format)
    return Status(Code::mismatch, fmt::format("'{}' is {}, the plan says {}: reopen keeps the format", state->path,
                                              state->contents->format, state->plan.format));
  PENSTOCK_TRY(agree(comm, hold(*state)));
  if (mode == Mode::change && !state->contents->left_out.empty())
    return Status(Code::unsupported,
                  fmt::format("'{}' cannot be changed without loss: {}", state->path, state->contents->left_out));
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

}  // namespace penstock
