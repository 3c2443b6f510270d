// Target: where a path really leads, and whether a file may be published there.
#pragma once

#include <cstdint>
#include <optional>
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
// What is at PATH; nothing where nothing is there.
Result<std::optional<FileStat>> occupant(Storage& storage, const std::string& path);
// PARTIAL takes the place of TARGET, where EXPECTED, or what this process put there since, still is, or nothing:
// Code::exists where somebody else put another file there, which then stays. True where what was there is at PARTIAL
// afterwards, to be removed. Where the file system cannot exchange names, another file that comes between the look and
// the rename is lost, and a folder is absent for a moment (docs/decisions/0017).
Result<bool> put_in_place(Storage& storage, const std::string& partial, const std::string& target,
                          const std::optional<FileStat>& expected);
// The same, synced where DURABLE; what was there is gone then. Code::in_doubt where PARTIAL is in place but may not
// survive a power loss.
Status publish(Storage& storage, const std::string& partial, const std::string& target,
               const std::optional<FileStat>& expected, bool durable);
// For names that never meet: of partial files and generations.
uint64_t random_token();

}  // namespace penstock
