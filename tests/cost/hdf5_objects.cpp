// What libhdf5 takes to define datasets, by the version of its format and by where it keeps attributes.
//
//   hdf5_objects DATASETS ATTRIBUTES earliest|v18|v110 MOST_IN_HEADER
//
// Prints microseconds and bytes of metadata for each dataset (docs/decisions/0011-definition-cost.md).
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <penstock/phase.hpp>

#include "core/hdf5/handles.hpp"

using namespace penstock;
using namespace penstock::hdf5;

namespace {

struct Options {
  int datasets = 1000, attributes = 3;
  std::string bound = "v18";
  unsigned max_in_header = 8;
};

void define(hid_t file, const Options& o) {
  const Properties creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(creation, false);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_attr_phase_change(creation, o.max_in_header, o.max_in_header);
  const hsize_t extent = 16;
  const Space space(H5Screate_simple(1, &extent, nullptr)), scalar(H5Screate(H5S_SCALAR));
  const Type text(H5Tcopy(H5T_C_S1));
  H5Tset_size(text, 8);
  for (int i = 0; i < o.datasets; ++i) {
    const DatasetHandle dataset(H5Dcreate2(file, fmt::format("field{:06d}", i).c_str(), H5T_NATIVE_DOUBLE, space,
                                           H5P_DEFAULT, creation, H5P_DEFAULT));
    for (int a = 0; a < o.attributes; ++a) {
      const AttributeHandle attribute(
          H5Acreate2(dataset, fmt::format("attribute{}", a).c_str(), text, scalar, H5P_DEFAULT, H5P_DEFAULT));
      H5Awrite(attribute, text, "a value.");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  if (argc > 1) o.datasets = std::atoi(argv[1]);
  if (argc > 2) o.attributes = std::atoi(argv[2]);
  if (argc > 3) o.bound = argv[3];
  if (argc > 4) o.max_in_header = static_cast<unsigned>(std::atoi(argv[4]));
  const char* path = "/dev/shm/hdf5_objects.h5";
  const bool newest = o.bound == "v110";
  const Properties access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(access,
                       o.bound == "earliest" ? H5F_LIBVER_EARLIEST
                       : newest              ? H5F_LIBVER_V110
                                             : H5F_LIBVER_V18,
                       newest ? H5F_LIBVER_V110 : H5F_LIBVER_V18);
  const double begin = now();
  File file(H5Fcreate(path, create_truncating, H5P_DEFAULT, access));
  if (file.ok()) define(file, o);
  hsize_t size = 0;
  const bool ok =
      file.ok() && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 && H5Fget_filesize(file, &size) >= 0 && file.close();
  const double seconds = now() - begin;
  std::remove(path);
  fmt::print("{}: {:.1f} microseconds, {:.0f} bytes for each\n", ok ? o.bound : "failed", seconds * 1e6 / o.datasets,
             static_cast<double>(size) / o.datasets - 128);
  return ok ? 0 : 1;
}
