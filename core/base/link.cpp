// Link: compares the folder of a link's target with the folder of the file.
#include "core/base/link.hpp"

#include <filesystem>

namespace penstock {

Status check_link(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path link(path);
  if (!fs::is_symlink(fs::symlink_status(link, error))) return {};
  const fs::path end = fs::weakly_canonical(link, error);
  const fs::path folder = fs::weakly_canonical(link.has_parent_path() ? link.parent_path() : ".", error);
  if (!error && end.parent_path() == folder) return {};
  return {Code::damaged, "'" + path + "' is a link to '" + end.string() +
                             "', outside the folder of the file that names it: put the file itself there"};
}

}  // namespace penstock
