// Conventions: what a file says in the words of CF or openPMD, made from what it says in ours.
//
// Attributes are completed, and those that the program set stay as they are. Sources: the CF conventions 1.11
// (cfconventions.org); openPMD standard 1.1.0 (doi 10.5281/zenodo.1167843).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/model/catalogue.hpp"

namespace penstock {

enum class Convention : uint8_t { none, cf, openpmd };

// "" and "none", "CF" (also "CF-1.11"), "openPMD" (also "openPMD-1.1.0"); upper and lower case alike.
Result<Convention> parse_convention(std::string_view text);

// A dataset that the file needs besides: real64 values, the same on all ranks.
struct Added {
  Dataset dataset;
  std::vector<double> values;
};

// Local, the same on all ranks. Names the dimensions of values on meshes (mesh.hpp) and their coordinates, and returns
// the coordinates of uniform meshes. What has no words in CF keeps its dimensions: docs/conventions.md.
Result<std::vector<Added>> follow_cf(Catalogue& catalogue);

// Local, the same on all ranks. Completes the attributes of files whose datasets are named as openPMD has them:
// data/ITERATION/fields/NAME[/COMPONENT] and data/ITERATION/particles/SPECIES/RECORD[/COMPONENT]. SOFTWARE is what
// wrote it, "penstock 0.1.0". Code::invalid where no dataset is, or positions are missing.
Status follow_openpmd(Catalogue& catalogue, std::string_view software);

}  // namespace penstock
