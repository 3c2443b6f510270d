// mpiio: its name and parameters, in every build.
#include "core/model/descriptor.hpp"

namespace penstock {

Descriptor mpiio_descriptor() {
  using Type = Parameter::Type;
  return {
      "mpiio",
      "MPI-IO, by every access of the MPI standard: the library decides who writes; level 3 is its best",
      {{"positioning", Type::choice, "explicit|individual|shared", "explicit",
        "by offsets, by a pointer of each rank's in its own view of the file, or by one pointer that all share", true},
       {"coordination", Type::choice, "independent|collective", "collective", "whether the ranks call together", true},
       {"synchronism", Type::choice, "blocking|nonblocking|split", "blocking",
        "nonblocking goes on behind the program; split has a begin and an end, collectively", true},
       {"request", Type::choice, "per_run|datatype", "datatype",
        "one call for each contiguous run of the file, or for as many as round_runs by derived types", true},
       {"puts", Type::choice, "together|apart", "together",
        "whether a call may move what is of several puts; apart, they go in the order of the program"},
       {"level", Type::choice, "none|0|1|2|3", "none",
        "0 to 3 of Thakur et al. (1999) instead of coordination and request: 0 independent,per_run; "
        "1 collective,per_run; 2 independent,datatype; 3 collective,datatype"},
       {"datarep", Type::choice, "native|internal|external32", "native",
        "how the library stores numbers; external32 is big-endian, as format netcdf"},
       {"atomicity", Type::boolean, "true|false", "false", "MPI_File_set_atomicity"},
       {"buffer_bytes", Type::bytes, "4096", "4MiB", "where data is packed or exchanged: memory of one call"},
       {"round_bytes", Type::bytes, "4096", "512MiB", "what one call of a rank moves at most"},
       {"round_runs", Type::integer, "1", "100000", "entries of a derived type at most"},
       {"record_bytes", Type::bytes, "64", "1MiB", "positioning=shared,coordination=independent: of one record"},
       {"read_back", Type::choice, "none|spot|full", "spot",
        "how much of what was written is read back by plain system calls and compared"}},
      "",
      true};
}

}  // namespace penstock
