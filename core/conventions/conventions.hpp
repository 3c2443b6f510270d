// Conventions: derives the metadata of CF or openPMD from penstock's own.
//
// Attributes are added; those that the program has set do not change. Sources: the CF conventions 1.11
// (cfconventions.org); openPMD standard 1.1.0 (doi 10.5281/zenodo.1167843).
#pragma once

#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/model/catalogue.hpp"

namespace penstock {

enum class Convention : uint8_t { none, cf, openpmd };

// "" and "none", "CF" (also "CF-1.11"), "openPMD" (also "openPMD-1.1.0"), in upper or lower case.
Result<Convention> parse_convention(std::string_view text);

// An additional dataset: real64 values, identical on all ranks.
struct Added {
  Dataset dataset;
  std::vector<double> values;
};

// Local, the same on all ranks. Names the dimensions of values on meshes (mesh.hpp) and their coordinates. Returns the
// coordinates of uniform meshes. Datasets that CF cannot describe keep their dimensions: docs/conventions.md.
Result<std::vector<Added>> follow_cf(Catalogue& catalogue);

// Local, the same on all ranks. Adds the attributes for datasets with openPMD names:
// data/ITERATION/fields/NAME[/COMPONENT] and data/ITERATION/particles/SPECIES/RECORD[/COMPONENT]. SOFTWARE is the
// writer, "penstock 0.1.0". Code::invalid if there is no such dataset or positions are missing.
Status follow_openpmd(Catalogue& catalogue, std::string_view software);

}  // namespace penstock
