// Mesh: where the values of datasets lie in space, as attributes of a file say.
//
// Attribute "mesh" of a group or dataset M makes it a mesh, by a text: the kind, and what makes it up:
//   uniform,origin=0:0:0,spacing=0.1:0.1:0.1      slowest dimension first, as shapes are
//   rectilinear,x=grid/x,y=grid/y,z=grid/z        datasets of one dimension: the nodes along each axis; x is the last
//                                                 index
//   curvilinear,x=grid/x,y=grid/y,z=grid/z        datasets of 2 or 3 dimensions: every node
//   unstructured,points=p,cells=c,type=hexahedron datasets (points, 2 or 3), x first, or x=,y=,z= of one dimension;
//                                                 (cells, nodes of one)
//   unstructured,points=p,cells=c,type=mixed,count=7   (numbers): XDMF's number of each cell's type, then its nodes
//   blocks,corners=level_1/corner,spacing=1:1     equal boxes, as of AMR: (blocks, dimensions), slowest first;
//                                                 or (blocks, 3) of two dimensions, which then lie in the x-y plane
//   particles,x=p/x,y=p/y,z=p/z                   or points=p
// Attribute "on" of a dataset names its mesh, "center" says "node" or "cell" (default: node; of blocks cell).
#pragma once

#include <map>
#include <string>
#include <vector>

#include <penstock/status.hpp>

#include "core/model/catalogue.hpp"

namespace penstock {

enum class MeshKind : uint8_t { uniform, rectilinear, curvilinear, unstructured, blocks, particles };

struct Mesh {
  std::string name;
  MeshKind kind = MeshKind::uniform;
  std::vector<double> origin, spacing;  // uniform; spacing of blocks
  std::vector<std::string> axes;        // datasets x, y, z; or the one of points, cells or corners
  std::string points, cells, corners;
  std::string type;   // of cells: "hexahedron"
  int64_t count = 0;  // of cells
  int dimensions = 0;
  bool lies = false;  // blocks of two dimensions whose corners have three, z first
};

// Where a dataset's values are.
struct Values {
  const Dataset* dataset = nullptr;
  bool at_cells = false;
  int64_t components = 1;  // of a vector: the last dimension of the dataset
};

struct MeshWithValues {
  Mesh mesh;
  std::vector<Values> values;
};

// All meshes that attributes of CATALOGUE describe, by name. Code::invalid, naming object and attribute, where a
// description is none, names what is not there, or does not fit the datasets that are on it.
Result<std::vector<MeshWithValues>> meshes_of(const Catalogue& catalogue);
// The nodes that a cell of TYPE has; 0 for "mixed", -1 for what is no type.
int nodes_of_cell(std::string_view type);

}  // namespace penstock
