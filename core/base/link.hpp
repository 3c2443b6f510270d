// Link: symbolic links among the files of a set, which could lead anywhere.
#pragma once

#include <string>

#include <penstock/status.hpp>

namespace penstock {

// Local. Code::damaged where PATH, a file that another file names, is a symbolic link to what lies in another folder
// than PATH; ok for everything else, also where there is nothing. Who can change the folder meanwhile can still fool
// it.
Status check_link(const std::string& path);

}  // namespace penstock
