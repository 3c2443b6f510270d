// File: a Parallel-NetCDF file that closes itself, its definitions, and its type names.
#pragma once

#include <mpi.h>
#include <pnetcdf.h>

#include <string>
#include <vector>

#include "core/comm/mpi/io_library.hpp"
#include "core/engine/engine.hpp"
#include "core/netcdf/header.hpp"

namespace penstock::pnetcdf {

Status check(int error, const std::string& call);

// The type of the parts of an element: the two numbers of a complex number, the bytes of a text.
MPI_Datatype memory_type(const ElementType& type);
int64_t parts(const ElementType& type);

// All functions are collective.
class File {
 public:
  File() = default;
  ~File() { (void)close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  Status create(const EngineJob& job, const Hints& hints);
  Status open(const EngineJob& job, const Hints& hints);
  Status close();
  int id() const { return id_; }
  // Local. Reports the effect of HINTS.
  void report(const EngineJob& job, const Hints& hints, IoLibrary library) const;

  // Defines dimensions, variables (in the order of HEADER) and attributes; data can move afterwards.
  Status define(const netcdf::Header& header);
  // The end of the data that HEADER describes.
  Result<int64_t> end(const netcdf::Header& header) const;

 private:
  Status put_attributes(int variable, const std::vector<Attribute>& list);
  int id_ = -1;
};

}  // namespace penstock::pnetcdf
