// Owner: examines the names beside a target, and writes a file beside it.
#include "core/storage/owner.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "core/base/guarded.hpp"
#include "core/storage/target.hpp"

namespace penstock {
namespace {

constexpr size_t max_names = 1024, max_shown = 3;

std::string described(const std::string& name, const Owner& owner, Life life) {
  const std::string who =
      fmt::format("process {} on {}{}", owner.pid, owner.host, owner.job == "none" ? "" : ", job " + owner.job);
  return fmt::format("'{}' ({}, {})", name, who,
                     life == Life::dead    ? "which has ended"
                     : life == Life::alive ? "which is writing now: the first to commit wins"
                                           : "which may be writing still");
}

}  // namespace

Beside look_beside(Storage& storage, const std::string& path) {
  const std::string folder = folder_of(path);
  const auto names = storage.list(folder.empty() ? "." : folder, max_names);
  if (!names.ok()) return {};
  const std::string target = path.substr(folder.size());
  Beside beside;
  std::string list;
  size_t found = 0;
  for (const std::string& name : *names) {
    beside.parts = beside.parts || name.starts_with(target + ".g");
    const auto partial = parse_partial(name);
    if (!partial || !partial->is_of(target)) continue;
    const Life life = life_of(partial->owner);
    if (life == Life::alive && partial->owner.pid == ::getpid()) continue;
    if (++found <= max_shown) list += (found > 1 ? ", " : "") + described(name, partial->owner, life);
  }
  if (found == 0) return beside;
  if (found > max_shown) list += fmt::format(", and {} more", found - max_shown);
  beside.others = fmt::format(
      "beside '{}' there are partial files of others: {}: 'penstock clean' removes what nobody is writing any more",
      path, list);
  return beside;
}

Status by_its_name(const Status& status, const std::string& partial, const std::string& path) {
  if (status.ok() || partial.empty()) return status;
  std::string message = status.message();
  for (size_t at = 0; (at = message.find(partial, at)) != std::string::npos; at += path.size())
    message.replace(at, partial.size(), path);
  return {status.code(), std::move(message)};
}

Status write_file(Storage& storage, const std::string& path, std::string_view text) {
  const std::string folder = folder_of(path);
  const std::string partial =
      folder + partial_name(path.substr(folder.size()), random_token(), penstock::text(this_process()));
  const auto write = [&]() -> Status {
    PENSTOCK_ASSIGN(auto file, storage.create(partial, std::ssize(text), Io::buffered, false));
    PENSTOCK_TRY(file->write(0, std::as_bytes(std::span(text))));
    PENSTOCK_TRY(file->sync());
    PENSTOCK_TRY(file->close());
    PENSTOCK_TRY(storage.rename(partial, path));
    return storage.sync_directory(path);
  };
  const Status written = guarded(write);
  if (!written.ok()) (void)storage.remove(partial);
  return written;
}

}  // namespace penstock
