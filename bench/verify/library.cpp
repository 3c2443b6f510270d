// Library: the table of independent readers.
#include "bench/verify/library.hpp"

namespace penstock::bench {

namespace {

constexpr Library table[] = {
    {"hdf5", "h5", hdf5_version, check_hdf5},
    {"hdf5", "nc", hdf5_version, check_hdf5},
    {"raw", "json", raw_version, check_raw},
#ifdef PENSTOCK_BENCH_NETCDF
    {"netcdf", "nc", netcdf_version, check_netcdf},
#endif
};

}  // namespace

const Library* find_library(std::string_view format, std::string_view extension) {
  for (const Library& library : table)
    if (library.format == format && library.extension == extension) return &library;
  return nullptr;
}

}  // namespace penstock::bench
