// Target: resolves a path, and checks whether a file may be published there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/storage/storage.hpp"

namespace penstock {

// The folder of PATH with a trailing slash, or "".
std::string folder_of(const std::string& path);
// Follows a link at the target, so that the rename replaces the file and not the link; also a dangling link.
std::string resolve_link(std::string path);
// The file at PATH; nothing if there is none.
Result<std::optional<FileStat>> existing_file(Storage& storage, const std::string& path);
// Same; an error if no file can be published at PATH, whose message begins with "cannot create". If REPLACES_FOLDER, a
// folder may be there.
Result<std::optional<FileStat>> check_target(Storage& storage, const std::string& path, bool replaces_folder = false);
// Moves PARTIAL to TARGET if TARGET is still EXPECTED, absent, or a file that this process has put there since.
// Code::exists if another process has put a file there, which then stays. True if the old file is at PARTIAL
// afterwards, to be removed. On a file system that cannot exchange names, a file that appears between the check and the
// rename is lost, and a folder is absent for a moment (docs/decisions/0017).
Result<bool> put_in_place(Storage& storage, const std::string& partial, const std::string& target,
                          const std::optional<FileStat>& expected);
// Same, then removes the old file, and syncs if DURABLE. EXPECTED is then the new file. Code::in_doubt if PARTIAL is in
// place but may not survive a power loss.
Status publish(Storage& storage, const std::string& partial, const std::string& target,
               std::optional<FileStat>& expected, bool durable);
// A number for unique names of partial files and generations.
uint64_t random_token();

}  // namespace penstock
