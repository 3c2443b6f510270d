// XDMF: a series as ParaView and VisIt read it: datasets on uniform grids, by reference to the HDF5 files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model/catalogue.hpp"
#include "core/series/index.hpp"

namespace penstock {

struct Field {
  std::string name;
  ElementType type;
  Dims shape;
  std::vector<double> origin,
      spacing;  // of attributes "origin" and "spacing" of the dataset, else of the file; else 0 and 1
};

// The numbers in CATALOGUE with 2 or 3 extents above 0; names that XML or a reference cannot hold are left out.
std::vector<Field> fields_of(const Catalogue& catalogue);
// One collection over time for each grid, which datasets of one shape, origin and spacing share. FIELDS: of each of STEPS.
std::string xdmf(std::span<const Step> steps, std::span<const std::vector<Field>> fields);

}  // namespace penstock
