// Mesh: the positions of dataset values in space, as described by attributes of a file.
//
// Attribute "mesh" of a group or dataset M makes M a mesh. It is a text with the kind and the components:
//   uniform,origin=0:0:0,spacing=0.1:0.1:0.1      slowest dimension first, like shapes
//   rectilinear,x=grid/x,y=grid/y,z=grid/z        1-D datasets: the nodes along each axis; x is the last index
//   curvilinear,x=grid/x,y=grid/y,z=grid/z        2-D or 3-D datasets: every node
//   unstructured,points=p,cells=c,type=hexahedron datasets (points, 2 or 3), x first, or 1-D datasets x=,y=,z=;
//                                                 (cells, nodes of one)
//   unstructured,points=p,cells=c,type=mixed,count=7   (numbers): XDMF's number of each cell's type, then its nodes
//   blocks,corners=level_1/corner,spacing=1:1     equal boxes, as in AMR: (blocks, dimensions), slowest first;
//                                                 or (blocks, 3) of two dimensions, which then lie in the x-y plane
//   particles,x=p/x,y=p/y,z=p/z                   or points=p
// Attribute "on" of a dataset names its mesh; "center" is "node" or "cell" (default: node; for blocks cell).
#pragma once

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
  std::vector<std::string> axes;        // datasets x, y, z; or only that of points, cells or corners
  std::string points, cells, corners;
  std::string type;   // of cells: "hexahedron"
  int64_t count = 0;  // of cells
  int dimensions = 0;
  bool lies = false;  // 2-D blocks with 3-D corners, z first
};

// The position of a dataset's values.
struct Values {
  const Dataset* dataset = nullptr;
  bool at_cells = false;
  int64_t components = 1;  // of a vector: the last dimension of the dataset
};

struct MeshWithValues {
  Mesh mesh;
  std::vector<Values> values;
};

// All meshes that attributes of CATALOGUE describe, by name. Code::invalid, naming object and attribute, if a
// description is malformed, names missing datasets, or does not fit the datasets on the mesh.
Result<std::vector<MeshWithValues>> meshes_of(const Catalogue& catalogue);
// The extents of MESH's nodes, slowest first, if its own datasets determine them; otherwise none.
std::vector<int64_t> nodes_of(const Catalogue& catalogue, const Mesh& mesh);
// The number of nodes of a cell of TYPE; 0 for "mixed", -1 for an unknown type.
int nodes_of_cell(std::string_view type);

}  // namespace penstock
