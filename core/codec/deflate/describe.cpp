// Deflate: its description, which needs no library.
#include "core/model/descriptor.hpp"

namespace penstock {

Descriptor deflate_descriptor() {
  return {"deflate", "bytes of equal weight together, then zlib's method: every HDF5 reads it", {}, ""};
}

}  // namespace penstock
