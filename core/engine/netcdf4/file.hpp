// File: a netCDF-4 file that closes itself, and its definitions.
#pragma once

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/netcdf/note.hpp"

namespace penstock::netcdf4 {

Status check(int error, const std::string& call);
// ok, or why a netCDF-4 file cannot hold CATALOGUE.
Status check_definitions(const Catalogue& catalogue);

struct Variable {
  int group = -1;
  int id = -1;
};

// All functions are collective.
class File {
 public:
  File() = default;
  ~File() { (void)close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  Status create(const EngineJob& job, const Hints& hints);
  Status open(const EngineJob& job);
  Status close() { return id_ < 0 ? Status() : check(nc_close(std::exchange(id_, -1)), "nc_close"); }
  int id() const { return id_; }

  // Defines everything in CATALOGUE, one variable per dataset. CHUNKS apply to datasets that can grow.
  Status define(const Catalogue& catalogue, const std::vector<Dims>& chunks);
  Result<Variable> find(const Dataset& dataset) const;
  const std::vector<Variable>& variables() const { return variables_; }

 private:
  Status define_groups(const Catalogue& catalogue);
  Status define_variable(const Catalogue& catalogue, const Dataset& dataset, const Dims& chunk);
  Status put_attributes(int group, int variable, const Catalogue& catalogue, const std::string& object,
                        netcdf::Note note);
  Result<nc_type> type_of(const ElementType& type);
  Result<int> dimension(int64_t length, bool unlimited);

  int id_ = -1;
  std::map<std::string, int> groups_;
  std::map<std::string, int> dimensions_;
  std::map<Kind, nc_type> complex_;
  std::string prefix_;  // of dimensions: not the start of any dataset or group name
  std::vector<Variable> variables_;
};

}  // namespace penstock::netcdf4
