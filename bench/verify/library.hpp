// Library: verifies a file with a reader that shares no code with penstock.
#pragma once

#include <string>
#include <string_view>

#include <penstock/status.hpp>

#include "bench/verify/truth.hpp"

namespace penstock::bench {

inline constexpr int64_t piece_bytes = 8 << 20;  // read at a time

struct Library {
  std::string_view format;     // of the files it reads
  std::string_view extension;  // of files it can open; it cannot open other files of the format
  std::string (*version)();
  // Local. Reads every element of every field of the file at PATH in bounded pieces and adds errors to FAULTS. A status
  // that is not ok means that the file cannot be read or that a definition in it is wrong.
  Status (*check)(const std::string& path, const Truth& truth, Faults& faults);
};

// Null if the bench has no independent reader for FORMAT's files with EXTENSION.
const Library* find_library(std::string_view format, std::string_view extension);

std::string hdf5_version();
Status check_hdf5(const std::string& path, const Truth& truth, Faults& faults);
std::string netcdf_version();
Status check_netcdf(const std::string& path, const Truth& truth, Faults& faults);
std::string raw_version();
Status check_raw(const std::string& path, const Truth& truth, Faults& faults);

}  // namespace penstock::bench
