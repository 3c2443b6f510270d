// XDMF: files as ParaView and VisIt read them: datasets on meshes, by reference to the HDF5 files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/model/catalogue.hpp"

namespace penstock {

// One grid of a file, or a set of grids that belong together.
struct Grid {
  std::string key;    // the same in all steps of a series: they make one collection
  std::string title;  // "4 x 5", or the mesh's name
  bool named = false;
  bool is_set = false;
  std::string body;  // XML, in which the byte 1 stands for the file's name
};

// The meshes that CATALOGUE describes (mesh.hpp). Where it describes none, its numbers in 2 or 3 dimensions as values
// at nodes of uniform grids, placed by attributes "origin" and "spacing" of the dataset, else of the file, else 0 and
// 1. Names that XML or a reference cannot hold are left out.
Result<std::vector<Grid>> grids_of(const Catalogue& catalogue);

// A file of a series, whose name is relative to the folder of the XDMF.
struct FileAtTime {
  std::string file;
  int64_t iteration = 0;
  double time = 0;
};
// One collection over time for each key. GRIDS: of each of MOMENTS.
std::string xdmf(std::span<const FileAtTime> moments, std::span<const std::vector<Grid>> grids);
// Of one file, without time.
std::string xdmf(std::string_view file, std::span<const Grid> grids);

}  // namespace penstock
