// Remove: a set's files are those with its name and its generation in theirs, whatever its index says.
#include "core/session/remove.hpp"

#include <fmt/format.h>

#include "core/session/state.hpp"
#include "core/storage/target.hpp"

namespace penstock {

Status remove_published(Storage& storage, const std::string& path) {
  const auto there = storage.stat(path);
  if (there.status().code() == Code::not_found) return {};
  const auto contents = recognise_and_read(storage, path);
  PENSTOCK_TRY(there.ok() && there->directory ? storage.remove_tree(path) : storage.remove(path));
  if (!contents.ok() || contents->generation.empty()) return {};
  const std::string folder = folder_of(path);
  std::string stem = path.substr(folder.size());
  if (stem.ends_with(".json")) stem.resize(stem.size() - 5);
  const auto names = storage.list(folder.empty() ? "." : folder);
  if (!names.ok()) return {};
  for (const std::string& generation : {contents->generation, contents->replaced}) {
    if (generation.size() != 16 || generation.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    const std::string begin = fmt::format("{}.g{}.", stem, generation);
    for (const std::string& name : *names)
      if (name.starts_with(begin)) (void)storage.remove(folder + name);
  }
  return {};
}

}  // namespace penstock
