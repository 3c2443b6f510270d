// Filters: decoders that this library brings for filters which HDF5 lacks.
#pragma once

#include "core/model/encoding.hpp"

namespace penstock::hdf5 {

// DECODER is there if it is needed. Any thread; a second offer of the same filter changes nothing.
void offer_decoder(const FilterDecoder& decoder);

}  // namespace penstock::hdf5
