// Target: where a path really leads, and whether a file may be published there.
#pragma once

#include <cstdint>
#include <string>

#include "core/storage/storage.hpp"

namespace penstock {

// The folder of PATH with a slash at its end, or "".
std::string folder_of(const std::string& path);
// A link as target is followed, so that the rename replaces the file and not the link; also one that leads to nothing
// yet.
std::string resolve_link(std::string path);
// Whether a file can be published at PATH, where a folder may lie if REPLACES_FOLDER; the message begins with "cannot
// create".
Status check_target(Storage& storage, const std::string& path, bool replaces_folder = false);
// PARTIAL takes the place of TARGET. Where one of them is a folder, a rename cannot do that: what was there is at PARTIAL
// afterwards, and true is returned. Only where the file system cannot exchange names is TARGET absent for a moment.
Result<bool> put_in_place(Storage& storage, const std::string& partial, const std::string& target);
// For names that never meet: of partial files and generations.
uint64_t random_token();

}  // namespace penstock
