// Files: those of a set with parity, compared as wholes with the checksums in its index.
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
const Contents::FileSum& sum_of(const Contents& contents, int32_t file);

// Local. The CRC-64 of the first BYTES of FILE, read by windows.
Result<uint64_t> sum_of_file(const File::State& state, StorageFile& file, int64_t bytes);
// Collective, the same on all ranks, in the order of files. REQUIRES: the state's contents have parity. Every file is read by one rank.
Result<std::vector<WrongFile>> find_wrong_files(File::State& state);

}  // namespace penstock
