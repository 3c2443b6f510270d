// Map file: the decompositions in an E3SM map, as E3SM-IO stores them (CDF-5).
//
// Decomposition k: attribute Dk.dims is the shape of its arrays (a netCDF attribute of the file). Variable
// Dk.nreqs(processes) is the number of runs of each process; Dk.offsets and Dk.lengths hold the runs, one process after
// another, in elements of the row-major array. E3SM writes fill values for the runs of a process from
// Dk.fill_starts[process] on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/decomposition.hpp>

namespace penstock::bench {

struct MapDecomposition {
  std::string name;  // "D1"
  Dims shape;
  std::vector<std::vector<Run>> processes;  // each process's runs
  int64_t fill_elements = 0;                // in runs that E3SM fills
};

// Local. The file may be anything; Code::damaged if it is not such a map.
Result<std::vector<MapDecomposition>> read_map_file(const std::string& path);

}  // namespace penstock::bench
