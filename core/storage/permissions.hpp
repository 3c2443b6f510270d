// Permissions: what an ordinary new file in a folder gets.
#pragma once

#include <sys/types.h>

#include <string>

namespace penstock {

// The bits that open(2) with 0666 would give a new file in FOLDER: those of the folder's default access control list,
// where it has one, else what the process's umask leaves.
mode_t new_file_mode(const std::string& folder);

}  // namespace penstock
