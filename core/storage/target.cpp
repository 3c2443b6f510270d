// Target: links followed, folders and files in the way named.
#include "core/storage/target.hpp"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <random>

#include <fmt/format.h>

namespace penstock {

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

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

Status check_target(Storage& storage, const std::string& path, bool replaces_folder) {
  if (path.empty()) return {Code::invalid, "the path is empty"};
  const std::string folder = folder_of(path).empty() ? "." : folder_of(path);
  const auto place = storage.stat(folder);
  if (!place.ok()) return place.status().in(fmt::format("cannot create '{}'", path));
  if (!place->directory) return {Code::not_found, fmt::format("cannot create '{}': '{}' is no folder", path, folder)};
  if (!place->writable)
    return {Code::denied, fmt::format("cannot create '{}': folder '{}' is not writable", path, folder)};
  const auto there = storage.stat(path);
  if (there.ok() && there->directory)
    return replaces_folder ? Status() : Status(Code::exists, fmt::format("cannot create '{}': it is a folder", path));
  if (there.ok() && !there->regular)
    return {Code::exists, fmt::format("cannot create '{}': it is no regular file", path)};
  if (path.ends_with('/'))
    return {Code::invalid, fmt::format("cannot create '{}': it names a folder, not a file", path)};
  return {};
}

Result<bool> put_in_place(Storage& storage, const std::string& partial, const std::string& target) {
  const auto ours = storage.stat(partial), there = storage.stat(target);
  if (!there.ok() || (ours.ok() && !ours->directory && !there->directory)) {
    PENSTOCK_TRY(storage.rename(partial, target));
    return false;
  }
  const Status exchanged = storage.exchange(partial, target);
  if (exchanged.code() != Code::unsupported) return exchanged.ok() ? Result<bool>(true) : exchanged;
  const std::string aside = partial + ".old";
  PENSTOCK_TRY(storage.rename(target, aside));
  if (const Status renamed = storage.rename(partial, target); !renamed.ok()) {
    (void)storage.rename(aside, target);
    return renamed;
  }
  PENSTOCK_TRY(storage.rename(aside, partial));
  return true;
}

uint64_t random_token() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace penstock
