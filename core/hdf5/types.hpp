// Types: penstock's element types as HDF5 types, and HDF5 types as the element types that they can be read as.
#pragma once

#include <optional>

#include <penstock/dims.hpp>
#include <penstock/type.hpp>

#include "core/hdf5/handles.hpp"

namespace penstock::hdf5 {

// A native-order type. complex is the compound {r, i} that h5py writes, text a NUL-padded string in ASCII or, if UTF8,
// UTF-8.
Result<Type> library_type(const ElementType& type, bool utf8 = false);

// How a file's type maps to an element type.
struct TypeMatch {
  ElementType type;
  bool direct = false;         // the file's bytes are the element's, up to byte order
  bool swapped = false;        // where direct: in the other byte order
  bool variable_text = false;  // a variable-length string; TYPE.text_bytes is then unknown
};

// Nothing where no Kind comes near (references, opaque, arrays, other compounds, ...); of an array ask for its
// innermost type.
std::optional<TypeMatch> match_type(hid_t file_type);

// Of an array, perhaps of arrays: the type of its numbers, and their EXTENTS, slowest first; of any other type: itself,
// and no extents. Not ok where there are more than max_rank.
Type innermost_type(hid_t file_type, Dims& extents);

// The type to read into memory as TYPE from FILE_TYPE, whose match is TYPE: names of compound members, enumerations and
// character sets as in the file, since the library converts between no others.
Result<Type> memory_type(const ElementType& type, hid_t file_type);

}  // namespace penstock::hdf5
