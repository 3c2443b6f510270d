// Verifies an HDF5 file with libhdf5.
#include <fmt/format.h>
#include <hdf5.h>
#include <algorithm>
#include <vector>

#include "bench/verify/library.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::bench {

namespace {

// An identifier of the library, closed with the matching function.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): it is one
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// For its lifetime the library prints nothing.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

Status failed(const std::string& what) {
  std::string reason = "no reason given";
  const auto innermost = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    if (error->desc) *static_cast<std::string*>(out) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, innermost, &reason);
  return Status(Code::damaged, fmt::format("libhdf5 cannot {}: {}", what, reason));
}

hid_t predefined(Kind kind) {
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
    default: return H5T_NATIVE_DOUBLE;
  }
}

// Complex numbers are compounds {r, i}, as in h5py.
Handle native_type(Kind kind) {
  const hid_t base = predefined(kind);
  if (kind != Kind::complex64 && kind != Kind::complex128) return {H5Tcopy(base), H5Tclose};
  const size_t size = H5Tget_size(base);
  const hid_t compound = H5Tcreate(H5T_COMPOUND, 2 * size);
  H5Tinsert(compound, "r", 0, base);
  H5Tinsert(compound, "i", size, base);
  return {compound, H5Tclose};
}

Status check_definition(hid_t dataset, const Field& field) {
  const Handle type(H5Dget_type(dataset), H5Tclose), wanted = native_type(field.type.kind);
  const Handle native(type.ok() ? H5Tget_native_type(type, H5T_DIR_ASCEND) : H5I_INVALID_HID, H5Tclose);
  if (!native.ok() || H5Tequal(native, wanted) <= 0)
    return Status(Code::mismatch, fmt::format("libhdf5: '{}' is not of type {}", field.name, name(field.type)));
  const Handle space(H5Dget_space(dataset), H5Sclose);
  hsize_t extents[H5S_MAX_RANK] = {};
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank == field.shape.rank()) H5Sget_simple_extent_dims(space, extents, nullptr);
  const bool same =
      rank == field.shape.rank() && std::equal(field.shape.begin(), field.shape.end(), extents,
                                               [](int64_t a, hsize_t b) { return static_cast<hsize_t>(a) == b; });
  if (!same)
    return Status(Code::mismatch, fmt::format("libhdf5: '{}' is not of shape {}", field.name, describe(field.shape)));
  return {};
}

// By rows of the slowest dimension, as many at once as fit in a piece.
Status check_field(hid_t file, int index, const Truth& truth, Faults& faults) {
  const Field& field = truth.workload->fields()[static_cast<size_t>(index)];
  const Handle dataset(H5Dopen2(file, field.name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.ok()) return failed(fmt::format("open '{}'", field.name));
  PENSTOCK_TRY(check_definition(dataset, field));
  if (field.elements == 0) return {};
  const int rank = field.shape.rank();
  const int64_t size = bytes(field.type), row = field.elements / field.shape[0];
  const int64_t step = std::clamp<int64_t>(piece_bytes / (row * size), 1, field.shape[0]);
  std::vector<std::byte> piece(static_cast<size_t>(step * row * size));
  const Handle space(H5Dget_space(dataset), H5Sclose), native = native_type(field.type.kind);
  for (int64_t at = 0; at < field.shape[0]; at += step) {
    hsize_t start[max_rank] = {}, count[max_rank] = {};
    for (int d = 0; d < rank; ++d) count[d] = static_cast<hsize_t>(field.shape[d]);
    start[0] = static_cast<hsize_t>(at);
    count[0] = static_cast<hsize_t>(std::min(step, field.shape[0] - at));
    const Handle memory(H5Screate_simple(rank, count, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) < 0 ||
        H5Dread(dataset, native, memory, space, H5P_DEFAULT, piece.data()) < 0)
      return failed(fmt::format("read '{}'", field.name));
    const auto length = static_cast<size_t>(static_cast<int64_t>(count[0]) * row * size);
    check(truth, index, at * row, std::span(piece).first(length), faults);
  }
  return {};
}

}  // namespace

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("libhdf5 {}.{}.{}", major, minor, release);
}

Status check_hdf5(const std::string& path, const Truth& truth, Faults& faults) {
  const Quiet quiet;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.ok()) return failed(fmt::format("open {}", path));
  for (size_t i = 0; i < truth.workload->fields().size(); ++i)
    PENSTOCK_TRY(check_field(file, static_cast<int>(i), truth, faults));
  return {};
}

}  // namespace penstock::bench
