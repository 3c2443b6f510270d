// File: a Parallel-NetCDF file that closes itself, its definitions, and what its types are called.
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

// The type of an element's parts: of a complex number its two, of a text its bytes.
MPI_Datatype memory_type(const ElementType& type);
int64_t parts(const ElementType& type);

// Every function is collective.
class File {
 public:
  File() = default;
  ~File() { (void)close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  Status create(const Problem& problem, const Hints& hints);
  Status open(const Problem& problem, const Hints& hints);
  Status close();
  int id() const { return id_; }
  // Local. Judges HINTS.
  void report(const Problem& problem, const Hints& hints, IoLibrary library) const;

  // Dimensions, variables (in the order of HEADER) and attributes; then data can be moved.
  Status define(const netcdf::Header& header);
  // Where the data that HEADER describes ends.
  Result<int64_t> end(const netcdf::Header& header) const;

 private:
  Status put_attributes(int variable, const std::vector<Attribute>& list);
  int id_ = -1;
};

}  // namespace penstock::pnetcdf
