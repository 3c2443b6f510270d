// Library: the table of independent readers.
#include "bench/verify/library.hpp"

namespace penstock::bench {

namespace {

constexpr Library table[] = {
    {"hdf5", hdf5_version, check_hdf5},
    {"raw", raw_version, check_raw},
};

}  // namespace

const Library* find_library(std::string_view format) {
  for (const Library& library : table)
    if (library.format == format) return &library;
  return nullptr;
}

}  // namespace penstock::bench
