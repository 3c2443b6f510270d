// Library: asks the library itself, since it may differ from the header.
#include "core/hdf5/library.hpp"

#include <hdf5.h>

#include "core/base/library_gate.hpp"

namespace penstock::hdf5 {

std::string library_version() {
  const LibraryGate gate;
  unsigned major = 0, minor = 0, release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0) return "";
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace penstock::hdf5
