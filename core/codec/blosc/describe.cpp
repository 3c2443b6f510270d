// Blosc: its description, which needs no library.
#include "core/model/descriptor.hpp"

namespace penstock {

Descriptor blosc_descriptor() {
  return {"blosc",
          "bits of equal weight together, then LZ4: fast, and small for smooth numbers; h5py reads it with hdf5plugin",
          {},
          ""};
}

}  // namespace penstock
