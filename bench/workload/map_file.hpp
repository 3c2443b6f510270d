// Map file: the decompositions in an E3SM map, as E3SM-IO stores them (CDF-5).
//
// Decomposition k: attribute Dk.dims is the shape of its arrays (a netCDF attribute of the file); variable
// Dk.nreqs(processes) says how many runs each process has, Dk.offsets and Dk.lengths hold them, one process after
// another, in elements of the row-major array. From run Dk.fill_starts[process] on, a process's runs are those that
// E3SM writes with fill values.
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

// Local. The file may be anything: what is not such a map is Code::damaged.
Result<std::vector<MapDecomposition>> read_map_file(const std::string& path);

}  // namespace penstock::bench
