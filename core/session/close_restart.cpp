// CloseRestart: closes a file as the newest of the restart files.
#include <fmt/format.h>

#include "core/comm/calling.hpp"
#include "core/session/state.hpp"

namespace penstock {
namespace {

// A program restarts from all of its data, unless its user says otherwise.
Status check_whole(const File::State& state) {
  if (state.lessened.empty()) return {};
  return {Code::invalid,
          fmt::format("'{}' would be a restart file, but the output profile {} leaves out data: name the "
                      "files that the profile is for, files = \"out/*.h5\"",
                      state.target.path, state.lessened)};
}

}  // namespace

Status File::close_restart(std::string pattern, int64_t retain) {
  State& state = *state_;
  Target& target = state.target;
  if (state.closed) return {Code::invalid, "the file is closed already"};
  const Calling calling(target.comm, "close_restart", target.path);
  const auto end = [&](const Status& status) {
    state.closed = true;
    state.puts.clear();
    state.gets.clear();
    return status;
  };
  if (state.mode == Mode::read)
    return end(
        {Code::invalid,
         fmt::format("'{}' was opened to read: only a file that was written becomes a restart file", target.path)});
  if (state.outcome.ok() && state.profile)
    if (const Status whole = agree(target.comm, check_whole(state)); !whole.ok()) return end(whole);
  PENSTOCK_TRY(state.outcome.ok() ? Status() : close());
  if (const Status moved = commit_wait(); !moved.ok()) return end(moved);
  auto agreed = agree_restart(target, pattern, retain, state.exists());
  if (!agreed.ok()) return end(agreed.status());
  const bool there = state.exists();
  if (!there) target.restart = *agreed;
  PENSTOCK_TRY(close());
  const std::string newest = agreed->path(0);
  if (there) {
    target.restart = *std::move(agreed);
    PENSTOCK_TRY(check_held(target));
    PENSTOCK_TRY(publish_together(target.comm, [&] { return rotate(target, target.path); }));
  }
  target.path = newest;
  return {};
}

}  // namespace penstock
