// Link: symbolic links among the files of a set, which could lead anywhere.
#pragma once

#include <string>

#include <penstock/status.hpp>

namespace penstock {

// Local. Code::damaged if PATH, a file named in another file, is a symbolic link that leads out of the folder of PATH.
// ok otherwise, also if PATH does not exist. A process that changes the folder at the same time can circumvent this
// check.
Status check_link(const std::string& path);

}  // namespace penstock
