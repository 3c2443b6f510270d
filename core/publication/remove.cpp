// Remove: a set's files are those with its name and its generation in theirs, whatever its index says.
#include "core/publication/remove.hpp"

#include "core/access/recognise.hpp"
#include "core/publication/output.hpp"
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
  for (const std::string& generation : {contents->generation, contents->replaced})
    remove_parts(storage, folder, stem, generation);
  return {};
}

}  // namespace penstock
