// Striping: detects the file system of a target's folder, and creates new files with the plan's stripes.
#pragma once

#include <string>

#include "core/session/state.hpp"

namespace penstock {

// Information about the folder of a target, from rank 0 for all ranks.
struct FileSystemKind {
  std::string text;  // for the report; "" if unknown
  bool has_stripes = false;
};
FileSystemKind find_file_system(const std::string& path);

// Local. From now on the state's storage creates files with the stripes of its plan, as that is then; a warning if they
// are not supported.
Status set_striping(File::State& state, const FileSystemKind& file_system);

Striping stripes_of(const Plan& plan);

}  // namespace penstock
