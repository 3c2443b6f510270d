// File: wraps the library's calls, each with a status.
#include "core/engine/pnetcdf/file.hpp"

#include <algorithm>
#include <utility>

#include "core/comm/mpi/native.hpp"
#include "core/engine/reserve.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::pnetcdf {

Status check(int error, const std::string& call) {
  if (error == NC_NOERR) return {};
  Code code = Code::io;
  if (error == NC_ENO_SPACE || error == NC_EQUOTA) code = Code::no_space;
  if (error == NC_EACCESS || error == NC_EPERM) code = Code::denied;
  if (error == NC_ENOMEM) code = Code::memory;
  if (error == NC_EBADTYPE || error == NC_EVARSIZE || error == NC_EINTOVERFLOW) code = Code::unsupported;
  return {code, call + ": " + ncmpi_strerror(error)};
}

MPI_Datatype memory_type(const ElementType& type) {
  switch (type.kind) {
    case Kind::i8: return MPI_SIGNED_CHAR;
    case Kind::i16: return MPI_SHORT;
    case Kind::i32: return MPI_INT;
    case Kind::i64: return MPI_LONG_LONG;
    case Kind::u8: return MPI_UNSIGNED_CHAR;
    case Kind::u16: return MPI_UNSIGNED_SHORT;
    case Kind::u32: return MPI_UNSIGNED;
    case Kind::u64: return MPI_UNSIGNED_LONG_LONG;
    case Kind::f32:
    case Kind::complex64: return MPI_FLOAT;
    case Kind::f64:
    case Kind::complex128: return MPI_DOUBLE;
    case Kind::text: return MPI_CHAR;
  }
  return MPI_BYTE;
}

int64_t parts(const ElementType& type) { return bytes(type) / scalar_bytes(type); }

Status File::create(const EngineJob& job, const Hints& hints) {
  const Info info(hints);
  const int error = ncmpi_create(native(*job.comm), job.path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info.get(), &id_);
  PENSTOCK_TRY(creation_error(job.path, check(error, "creating '" + job.path + "'")));
  int before = 0;
  return check(ncmpi_set_fill(id_, NC_NOFILL, &before), "ncmpi_set_fill");
}

Status File::open(const EngineJob& job, const Hints& hints) {
  const Info info(hints);
  return check(ncmpi_open(native(*job.comm), job.path.c_str(), NC_NOWRITE, info.get(), &id_),
               "opening '" + job.path + "'");
}

Status File::close() { return id_ < 0 ? Status() : check(ncmpi_close(std::exchange(id_, -1)), "ncmpi_close"); }

void File::report(const EngineJob& job, const Hints& hints, IoLibrary library) const {
  MPI_Info info = MPI_INFO_NULL;
  if (job.hints_outcome == nullptr || ncmpi_inq_file_info(id_, &info) != NC_NOERR) return;
  judge_hints(hints, hints_in(info), library, *job.comm, *job.hints_outcome, "nc_");
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
}

Status File::put_attributes(int variable, const std::vector<Attribute>& list) {
  for (const Attribute& attribute : list) {
    const char* name = attribute.name.c_str();
    const auto* value = reinterpret_cast<const char*>(attribute.value.data());
    int error = NC_NOERR;
    if (attribute.type.kind == Kind::text) {
      const bool none = attribute.value.size() == 1 && attribute.value[0] == std::byte{0};
      error =
          ncmpi_put_att_text(id_, variable, name, none ? 0 : static_cast<MPI_Offset>(attribute.value.size()), value);
    } else {
      error = ncmpi_put_att(id_, variable, name, netcdf::type_number(attribute.type.kind), elements(attribute.shape),
                            value);
    }
    PENSTOCK_TRY(check(error, "writing attribute '" + attribute.name + "'"));
  }
  return {};
}

Status File::define(const netcdf::Header& header) {
  std::vector<int> dimensions;
  for (const netcdf::Dimension& dimension : header.dimensions) {
    dimensions.push_back(-1);
    PENSTOCK_TRY(check(ncmpi_def_dim(id_, dimension.name.c_str(),
                                     dimension.length == 0 ? NC_UNLIMITED : dimension.length, &dimensions.back()),
                       "defining dimension '" + dimension.name + "'"));
  }
  PENSTOCK_TRY(put_attributes(NC_GLOBAL, header.attributes));
  for (const netcdf::Variable& variable : header.variables) {
    std::vector<int> of;
    for (const int64_t dimension : variable.dimensions) of.push_back(dimensions[static_cast<size_t>(dimension)]);
    int id = -1;
    PENSTOCK_TRY(check(ncmpi_def_var(id_, variable.name.c_str(), netcdf::type_number(variable.type.kind),
                                     static_cast<int>(of.size()), of.data(), &id),
                       "defining variable '" + variable.name + "'"));
    PENSTOCK_TRY(put_attributes(id, variable.attributes).in("variable '" + variable.name + "'"));
  }
  return check(ncmpi_enddef(id_), "ncmpi_enddef");
}

Result<int64_t> File::end(const netcdf::Header& header) const {
  int64_t end = 0;
  const int64_t record = netcdf::record_bytes(header);
  for (size_t i = 0; i < header.variables.size(); ++i) {
    const netcdf::Variable& variable = header.variables[i];
    MPI_Offset begin = 0;
    PENSTOCK_TRY(check(ncmpi_inq_varoffset(id_, static_cast<int>(i), &begin), "ncmpi_inq_varoffset"));
    const int64_t rows = variable.record ? header.records : 1;
    if (rows == 0) continue;
    end = std::max<int64_t>(
        end, begin + (rows - 1) * (variable.record ? record : 0) + netcdf::padded_bytes(header, variable));
  }
  return end;
}

}  // namespace penstock::pnetcdf
