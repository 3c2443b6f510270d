// Files: compares the files of a set with the checksums in its index: whole files with parity, else their headers.
#pragma once

#include <string>
#include <vector>

#include "core/integrity/published.hpp"

namespace penstock {

// A part, or the parity file after the last part, that differs from what was committed; and why.
struct WrongFile {
  int32_t file = 0;
  std::string why;
};

const std::string& path_of(const Contents& contents, int32_t file);
const FileSum& sum_of(const Contents& contents, int32_t file);

// Local. The CRC-64 of the first BYTES of FILE, read in windows.
Result<uint64_t> sum_of_file(const Target& target, StorageFile& file, int64_t bytes);
// Collective, the same on all ranks, in file order. Each file is read by one rank. Without parity, lost parts are
// omitted.
Result<std::vector<WrongFile>> find_wrong_files(const Target& target, const Contents& contents);

}  // namespace penstock
