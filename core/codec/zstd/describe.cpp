// Zstd: its description, which needs no library.
#include "core/model/descriptor.hpp"

namespace penstock {

Descriptor zstd_descriptor() {
  return {"zstd", "bytes of equal weight together, then Zstandard: h5py reads it with the package hdf5plugin", {}, ""};
}

}  // namespace penstock
