// Permissions: the permissions of an ordinary new file in a folder.
#pragma once

#include <sys/types.h>

#include <string>

namespace penstock {

// The bits that open(2) with 0666 would give a new file in FOLDER: by the folder's default access control list, if it
// has one, else by the process's umask.
mode_t new_file_mode(const std::string& folder);

}  // namespace penstock
