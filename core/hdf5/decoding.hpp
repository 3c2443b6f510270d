// Decoding: what HDF5 needs to read encoded chunks.
#pragma once

#include <hdf5.h>

#include <cstddef>

namespace penstock::hdf5 {

// Whether HDF5 can decode by FILTER: itself, by a plug-in, or from now on by a decoder that was offered (filters.hpp),
// which does not encode.
bool can_decode(H5Z_filter_t filter);
// Whether it can encode, too: itself, or by a plug-in.
bool can_encode(H5Z_filter_t filter);

// While it lives, this thread may read a dataset of CREATION, whose elements have ELEMENT_BYTES in the file. A chunk
// that an offered decoder makes too short is an error then: HDF5 would read beyond its end.
class Decoding {
 public:
  Decoding(hid_t creation, size_t element_bytes);
  ~Decoding();
  Decoding(const Decoding&) = delete;
  Decoding& operator=(const Decoding&) = delete;
};

}  // namespace penstock::hdf5
