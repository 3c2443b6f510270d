// netcdf4: its name and parameters, in every build.
#include "core/model/descriptor.hpp"

namespace penstock {

Descriptor netcdf4_descriptor() {
  using Type = Parameter::Type;
  return {"netcdf4",
          "netCDF-4 through parallel HDF5: dimensions and groups for netCDF tools",
          {
              {"mode", Type::choice, "collective|independent", "collective",
               "data by calls of all ranks, or of each; unlimited datasets always by all"},
              {"preallocate", Type::boolean, "true|false", "true",
               "reserve the file's space before data is written; without, a full disk may hang MPI-IO"},
          },
          "",
          true};
}

}  // namespace penstock
