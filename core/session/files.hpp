// Files: those of a set, compared with the checksums in its index: with parity as wholes, else their headers.
#pragma once

#include <string>
#include <vector>

#include "core/session/state.hpp"

namespace penstock {

// A part, or the parity file behind the last part, that is not what was committed; and why.
struct WrongFile {
  int32_t file = 0;
  std::string why;
};

const std::string& path_of(const Contents& contents, int32_t file);
const FileSum& sum_of(const Contents& contents, int32_t file);

// Local. The CRC-64 of the first BYTES of FILE, read by windows.
Result<uint64_t> sum_of_file(const File::State& state, StorageFile& file, int64_t bytes);
// Collective, the same on all ranks, in the order of files. Every file is read by one rank. Without parity parts that
// are lost are left out.
Result<std::vector<WrongFile>> find_wrong_files(File::State& state);

}  // namespace penstock
