// LZ4: its description, which needs no library.
#include "core/model/descriptor.hpp"

namespace penstock {

Descriptor lz4_descriptor() {
  return {"lz4", "bytes of equal weight together, then LZ4: the fastest; h5py reads it with hdf5plugin", {}, ""};
}

}  // namespace penstock
