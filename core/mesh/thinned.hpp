// Thinned: positions of values of which an output profile has stored a part.
#pragma once

#include <vector>

#include "core/mesh/mesh.hpp"

namespace penstock {

// Changes ORIGIN and SPACING of the uniform grid on which DATASET was as a whole to those of what is stored of it.
void place_stored(const Catalogue& catalogue, const std::string& dataset, bool at_cells, std::vector<double>& origin,
                  std::vector<double>& spacing);
// The same for a uniform MESH. On other meshes the stored values must be those at the stored nodes: Code::invalid, with
// the names, if they are not.
Status place_stored(const Catalogue& catalogue, MeshWithValues& one);

}  // namespace penstock
