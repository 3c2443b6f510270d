// zfp: its description, which needs no library.
#include "core/model/descriptor.hpp"

namespace penstock {

Descriptor zfp_descriptor() {
  return {"zfp", "f32 and f64 with an error of at most max_error, the smallest; h5py reads it with hdf5plugin", {}, ""};
}

}  // namespace penstock
