// pnetcdf: its name and parameters, in every build.
#include "core/model/descriptor.hpp"

namespace penstock {

Descriptor pnetcdf_descriptor() {
  using Type = Parameter::Type;
  return {"pnetcdf",
          "Parallel-NetCDF: classic netCDF files (CDF-5) through MPI-IO",
          {
              {"mode", Type::choice, "collective|independent|nonblocking", "collective",
               "blocking calls of all ranks or of each, or many requests and one wait for all"},
              {"header_align", Type::bytes, "0", "0", "hint nc_header_align_size; 0: the library's own"},
              {"var_align", Type::bytes, "0", "0", "hint nc_var_align_size; 0: the library's own"},
              {"aggrs_per_node", Type::integer, "0", "0",
               "hint nc_num_aggrs_per_node (1.14 and newer); 0: the library's own"},
              {"preallocate", Type::boolean, "true|false", "true",
               "reserve the file's space before data is written; without, a full disk may hang MPI-IO"},
          },
          "",
          true};
}

}  // namespace penstock
