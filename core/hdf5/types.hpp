// Types: maps element types to HDF5 types and back.
#pragma once

#include <optional>

#include <penstock/dims.hpp>
#include <penstock/type.hpp>

#include "core/hdf5/handles.hpp"

namespace penstock::hdf5 {

// A type in native byte order. Complex numbers are the compound {r, i} that h5py writes; texts are NUL-padded strings
// in ASCII or, if UTF8, UTF-8.
Result<Type> library_type(const ElementType& type, bool utf8 = false);

// How a type in a file maps to an element type.
struct TypeMatch {
  ElementType type;
  bool direct = false;         // the file's bytes are the element's, except for byte order
  bool swapped = false;        // if direct: in the opposite byte order
  bool variable_text = false;  // a variable-length string; TYPE.text_bytes is then unknown
  bool rounded = false;        // numbers of more bits than the element has
};

// Nothing for types without a similar Kind (references, opaque, arrays, other compounds, ...). For an array, pass its
// innermost type.
std::optional<TypeMatch> match_type(hid_t file_type);

// For an array, possibly of arrays: the type of its numbers, and their EXTENTS, slowest first. For other types: the
// type itself and no extents. Not ok for more than max_rank extents.
Type innermost_type(hid_t file_type, Dims& extents);

// Of a compound or an enumeration; "" if the library reports an error.
std::string member_name(hid_t type, unsigned index);

// The type for reading FILE_TYPE into memory as TYPE, its match. Names of compound members, enumerations and character
// sets are those of the file, since the library does not convert between different ones.
Result<Type> memory_type(const ElementType& type, hid_t file_type);

}  // namespace penstock::hdf5
