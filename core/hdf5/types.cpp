// Types: maps element types in both directions.
#include "core/hdf5/types.hpp"

#include <bit>

namespace penstock::hdf5 {
namespace {

hid_t native(Kind kind) {
  switch (kind) {
    case Kind::i8: return H5T_NATIVE_INT8;
    case Kind::i16: return H5T_NATIVE_INT16;
    case Kind::i32: return H5T_NATIVE_INT32;
    case Kind::i64: return H5T_NATIVE_INT64;
    case Kind::u8: return H5T_NATIVE_UINT8;
    case Kind::u16: return H5T_NATIVE_UINT16;
    case Kind::u32: return H5T_NATIVE_UINT32;
    case Kind::u64: return H5T_NATIVE_UINT64;
    case Kind::f32:
    case Kind::complex64: return H5T_NATIVE_FLOAT;
    case Kind::f64:
    case Kind::complex128: return H5T_NATIVE_DOUBLE;
    case Kind::text: return H5T_C_S1;
  }
  return -1;
}

Result<Type> complex_type(Kind kind, const char* real, const char* imaginary) {
  const size_t part = kind == Kind::complex64 ? 4 : 8;
  Type type(H5Tcreate(H5T_COMPOUND, 2 * part));
  if (!type.ok() || H5Tinsert(type, real, 0, native(kind)) < 0 || H5Tinsert(type, imaginary, part, native(kind)) < 0)
    return library_error(Code::internal, "making a complex type");
  return type;
}

Result<Type> text_type(int64_t text_bytes, H5T_cset_t character_set) {
  Type type(H5Tcopy(H5T_C_S1));
  if (!type.ok() || H5Tset_size(type, static_cast<size_t>(text_bytes)) < 0 ||
      H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 || H5Tset_cset(type, character_set) < 0)
    return library_error(Code::unsupported, "making a text type of " + std::to_string(text_bytes) + " bytes");
  return type;
}

bool is_swapped(hid_t type) {
  return (H5Tget_order(type) == H5T_ORDER_BE) != (std::endian::native == std::endian::big);
}

std::optional<TypeMatch> match_integer(hid_t type) {
  const size_t size = H5Tget_size(type);
  if (size == 0 || size > 8) return std::nullopt;
  constexpr Kind is_signed[] = {Kind::i8, Kind::i16, Kind::i32, Kind::i64};
  constexpr Kind is_unsigned[] = {Kind::u8, Kind::u16, Kind::u32, Kind::u64};
  const auto power = static_cast<size_t>(std::bit_width(size - 1));
  TypeMatch match;
  match.type.kind = H5Tget_sign(type) == H5T_SGN_NONE ? is_unsigned[power] : is_signed[power];
  match.direct = std::has_single_bit(size) && H5Tget_precision(type) == 8 * size && H5Tget_offset(type) == 0;
  match.swapped = size > 1 && is_swapped(type);
  return match;
}

TypeMatch match_float(hid_t type) {
  const size_t size = H5Tget_size(type);
  TypeMatch match;
  match.type.kind = size <= 4 ? Kind::f32 : Kind::f64;
  const bool little = H5Tequal(type, size == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE) > 0;
  const bool big = H5Tequal(type, size == 4 ? H5T_IEEE_F32BE : H5T_IEEE_F64BE) > 0;
  match.direct = (size == 4 || size == 8) && (little || big);
  match.swapped = match.direct && little != (std::endian::native == std::endian::little);
  match.rounded = size > 8;
  return match;
}

// Two equal floating-point members with any of the common names for real and imaginary parts.
std::optional<TypeMatch> match_complex(hid_t type) {
  if (H5Tget_nmembers(type) != 2) return std::nullopt;
  const std::string first = member_name(type, 0), second = member_name(type, 1);
  const auto pair = [&](const char* a, const char* b) { return first == a && second == b; };
  if (!pair("r", "i") && !pair("real", "imag") && !pair("re", "im") && !pair("real", "imaginary")) return std::nullopt;
  if (H5Tget_member_class(type, 0) != H5T_FLOAT || H5Tget_member_class(type, 1) != H5T_FLOAT) return std::nullopt;
  const Type real(H5Tget_member_type(type, 0)), imaginary(H5Tget_member_type(type, 1));
  if (!real.ok() || !imaginary.ok() || H5Tequal(real, imaginary) <= 0) return std::nullopt;
  TypeMatch match = match_float(real);
  match.type.kind = match.type.kind == Kind::f32 ? Kind::complex64 : Kind::complex128;
  const size_t size = H5Tget_size(real);
  match.direct = match.direct && H5Tget_member_offset(type, 0) == 0 && H5Tget_member_offset(type, 1) == size &&
                 H5Tget_size(type) == 2 * size;
  match.swapped = match.direct && match.swapped;
  return match;
}

std::optional<TypeMatch> match_text(hid_t type) {
  TypeMatch match;
  match.type.kind = Kind::text;
  match.variable_text = H5Tis_variable_str(type) > 0;
  if (match.variable_text) return match;
  const size_t size = H5Tget_size(type);
  if (size == 0) return std::nullopt;
  match.type.text_bytes = static_cast<int64_t>(size);
  // After the NUL of a terminated text there may be any bytes; a single character has nothing after it.
  match.direct = H5Tget_strpad(type) == H5T_STR_NULLPAD || (size == 1 && H5Tget_strpad(type) == H5T_STR_NULLTERM);
  return match;
}

}  // namespace

std::string member_name(hid_t type, unsigned index) {
  char* text = H5Tget_member_name(type, index);
  std::string name = text == nullptr ? "" : text;
  H5free_memory(text);
  return name;
}

Result<Type> library_type(const ElementType& type, bool utf8) {
  switch (type.kind) {
    case Kind::complex64:
    case Kind::complex128: return complex_type(type.kind, "r", "i");
    case Kind::text: return text_type(type.text_bytes, utf8 ? H5T_CSET_UTF8 : H5T_CSET_ASCII);
    default: break;
  }
  Type copy(H5Tcopy(native(type.kind)));
  if (!copy.ok()) return library_error(Code::internal, "copying a number type");
  return copy;
}

std::optional<TypeMatch> match_type(hid_t file_type) {
  switch (H5Tget_class(file_type)) {
    case H5T_INTEGER: return match_integer(file_type);
    case H5T_FLOAT: return match_float(file_type);
    case H5T_STRING: return match_text(file_type);
    case H5T_COMPOUND: return match_complex(file_type);
    case H5T_ENUM: {
      const Type base(H5Tget_super(file_type));  // including h5py's booleans
      return base.ok() ? match_integer(base) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

Type innermost_type(hid_t file_type, Dims& extents) {
  Type type(H5Tcopy(file_type));
  while (type.ok() && H5Tget_class(type) == H5T_ARRAY) {
    hsize_t dims[H5S_MAX_RANK];
    const int rank = H5Tget_array_ndims(type);
    if (rank < 0 || rank > max_rank - extents.rank() || H5Tget_array_dims2(type, dims) < 0) return {};
    for (int i = 0; i < rank; ++i) {
      if (dims[i] > static_cast<hsize_t>(INT64_MAX)) return {};
      extents.push_back(static_cast<int64_t>(dims[i]));
    }
    type = Type(H5Tget_super(type));
  }
  return type;
}

Result<Type> memory_type(const ElementType& type, hid_t file_type) {
  const H5T_class_t file_class = H5Tget_class(file_type);
  if (file_class == H5T_ENUM) {
    Type enumeration(H5Tget_native_type(file_type, H5T_DIR_ASCEND));
    if (!enumeration.ok() || H5Tget_size(enumeration) != static_cast<size_t>(bytes(type)))
      return library_error(Code::unsupported, "an enumeration has no native type");
    return enumeration;
  }
  if (file_class == H5T_COMPOUND)
    return complex_type(type.kind, member_name(file_type, 0).c_str(), member_name(file_type, 1).c_str());
  if (file_class == H5T_STRING) return text_type(type.text_bytes, H5Tget_cset(file_type));
  return library_type(type);
}

}  // namespace penstock::hdf5
