// XDMF: describes HDF5 files as datasets on meshes, for ParaView and VisIt.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/model/catalogue.hpp"

namespace penstock {

// One grid of a file, or a set of related grids.
struct Grid {
  std::string key;    // the same in all steps of a series, which form one collection
  std::string title;  // "4 x 5", or the mesh's name
  bool named = false;
  bool is_set = false;
  std::string body;  // XML in which byte 1 stands for the file's name
};

// The meshes that CATALOGUE describes (mesh.hpp). If it describes none: its 2-D and 3-D datasets of numbers, as values
// at the nodes of uniform grids, placed by attributes "origin" and "spacing" of the dataset or the file (default 0 and
// 1). Names that XML or a reference cannot hold are omitted.
Result<std::vector<Grid>> grids_of(const Catalogue& catalogue);

// A file of a series; its name is relative to the folder of the XDMF file.
struct FileAtTime {
  std::string file;
  int64_t iteration = 0;
  double time = 0;
};
// One collection over time for each key. GRIDS: one list for each of MOMENTS.
std::string xdmf(std::span<const FileAtTime> moments, std::span<const std::vector<Grid>> grids);
// For one file, without time.
std::string xdmf(std::string_view file, std::span<const Grid> grids);

}  // namespace penstock
