// Verifies a netCDF file with the netCDF library; built only if that library was found.
#include <fmt/format.h>
#include <netcdf.h>
#include <algorithm>

#include "bench/verify/library.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::bench {

namespace {

Status failed(int error, const std::string& what) {
  return Status(Code::damaged, fmt::format("netCDF cannot {}: {}", what, nc_strerror(error)));
}

class File {
 public:
  explicit File(const std::string& path) : error_(nc_open(path.c_str(), NC_NOWRITE, &id_)) {}
  ~File() {
    if (error_ == NC_NOERR) nc_close(id_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int error() const { return error_; }
  int id() const { return id_; }

 private:
  int id_ = -1;
  int error_;
};

nc_type type_of(Kind kind) {
  switch (kind) {
    case Kind::i8: return NC_BYTE;
    case Kind::i16: return NC_SHORT;
    case Kind::i32: return NC_INT;
    case Kind::i64: return NC_INT64;
    case Kind::u8: return NC_UBYTE;
    case Kind::u16: return NC_USHORT;
    case Kind::u32: return NC_UINT;
    case Kind::u64: return NC_UINT64;
    case Kind::f32:
    case Kind::complex64: return NC_FLOAT;
    default: return NC_DOUBLE;
  }
}

// The shape of the variable: complex numbers have an additional dimension for real and imaginary part.
std::vector<int64_t> shape_of(const Field& field) {
  std::vector<int64_t> shape(field.shape.begin(), field.shape.end());
  if (field.type.kind == Kind::complex64 || field.type.kind == Kind::complex128) shape.push_back(2);
  return shape;
}

Status check_definition(int file, int variable, const Field& field) {
  nc_type type = NC_NAT;
  int rank = 0, dimensions[NC_MAX_VAR_DIMS] = {};
  if (const int error = nc_inq_var(file, variable, nullptr, &type, &rank, dimensions, nullptr); error != NC_NOERR)
    return failed(error, fmt::format("describe '{}'", field.name));
  if (type != type_of(field.type.kind))
    return Status(Code::mismatch, fmt::format("netCDF: '{}' is not of type {}", field.name, name(field.type)));
  const std::vector<int64_t> shape = shape_of(field);
  bool same = rank == static_cast<int>(shape.size());
  for (int d = 0; d < rank && same; ++d) {
    size_t extent = 0;
    same = nc_inq_dimlen(file, dimensions[d], &extent) == NC_NOERR &&
           static_cast<int64_t>(extent) == shape[static_cast<size_t>(d)];
  }
  if (!same)
    return Status(Code::mismatch, fmt::format("netCDF: '{}' is not of shape {}", field.name, describe(field.shape)));
  return {};
}

Status check_field(int file, int index, const Truth& truth, Faults& faults) {
  const Field& field = truth.workload->fields()[static_cast<size_t>(index)];
  int variable = -1;
  if (const int error = nc_inq_varid(file, field.name.c_str(), &variable); error != NC_NOERR)
    return failed(error, fmt::format("find '{}'", field.name));
  PENSTOCK_TRY(check_definition(file, variable, field));
  if (field.elements == 0) return {};
  const int64_t size = bytes(field.type), row = field.elements / field.shape[0];
  const int64_t step = std::clamp<int64_t>(piece_bytes / (row * size), 1, field.shape[0]);
  std::vector<std::byte> piece(static_cast<size_t>(step * row * size));
  for (int64_t at = 0; at < field.shape[0]; at += step) {
    size_t start[max_rank + 1] = {static_cast<size_t>(at)}, count[max_rank + 1] = {};
    const std::vector<int64_t> shape = shape_of(field);
    for (size_t d = 0; d < shape.size(); ++d) count[d] = static_cast<size_t>(shape[d]);
    count[0] = static_cast<size_t>(std::min(step, field.shape[0] - at));
    if (const int error = nc_get_vara(file, variable, start, count, piece.data()); error != NC_NOERR)
      return failed(error, fmt::format("read '{}'", field.name));
    const auto length = count[0] * static_cast<size_t>(row * size);
    check(truth, index, at * row, std::span(piece).first(length), faults);
  }
  return {};
}

}  // namespace

std::string netcdf_version() {
  const std::string text = nc_inq_libvers();
  return "netCDF " + text.substr(0, text.find(' '));
}

Status check_netcdf(const std::string& path, const Truth& truth, Faults& faults) {
  const File file(path);
  if (file.error() != NC_NOERR) return failed(file.error(), fmt::format("open {}", path));
  for (size_t i = 0; i < truth.workload->fields().size(); ++i)
    PENSTOCK_TRY(check_field(file.id(), static_cast<int>(i), truth, faults));
  return {};
}

}  // namespace penstock::bench
