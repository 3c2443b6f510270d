// Blocks: arithmetic of grids and shapes.
#include "bench/workload/blocks.hpp"

#include <algorithm>
#include <cmath>

namespace penstock::bench {

namespace {

Dims reversed(const Dims& dims) {
  Dims other = dims;
  for (int d = 0; d < dims.rank(); ++d) other[d] = dims[dims.rank() - 1 - d];
  return other;
}

Dims process_grid(int size, int dimensions, bool fortran) {
  const Dims grid = squarest_grid(size, dimensions);
  return fortran ? reversed(grid) : grid;
}

// Whether VALUE^POWER <= LIMIT, without overflow.
bool power_fits(int64_t value, int power, int64_t limit) {
  for (int i = 0; i < power; ++i) limit /= value;
  return limit >= 1;
}

std::vector<int64_t> list(const Dims& dims) { return {dims.begin(), dims.end()}; }

}  // namespace

int64_t integer_root(int64_t value, int power) {
  if (value < 1) return 0;
  auto root = static_cast<int64_t>(std::pow(static_cast<double>(value), 1.0 / power));
  root = std::max<int64_t>(root, 1);  // pow may differ by one in either direction
  while (root > 1 && !power_fits(root, power, value)) --root;
  while (power_fits(root + 1, power, value)) ++root;
  return root;
}

Dims squarest_grid(int size, int dimensions) {
  Dims grid = Dims::filled(dimensions, 1);
  int64_t left = size;
  for (int d = dimensions - 1; d > 0; --d) {
    int64_t factor = integer_root(left, d + 1);
    while (left % factor != 0) --factor;  // NOLINT(clang-analyzer-core.DivideZero): 1 divides all
    grid[d] = factor;
    left /= factor;
  }
  grid[0] = left;
  return grid;
}

Result<Dims> block_shape(const WorkloadRequest& request, int dimensions) {
  const int64_t elements = request.total_bytes / bytes(request.type);
  if (elements < 1) return Status(Code::invalid, "--total is less than one element");
  if (request.row_bytes == 0) return Dims::filled(dimensions, integer_root(elements, dimensions));
  const Dims grid = process_grid(request.ranks, dimensions, request.fortran);
  const int64_t row = std::max<int64_t>(1, request.row_bytes / bytes(request.type));
  const int64_t fastest = std::min(elements, row * grid[dimensions - 1]);
  Dims shape = Dims::filled(dimensions, integer_root(elements / fastest, dimensions - 1));
  shape[dimensions - 1] = fastest;
  return shape;
}

Blocks::Blocks(std::vector<Field> fields, bool fortran) : fields_(std::move(fields)), fortran_(fortran) {
  number_elements(fields_);
}

Result<Decomposition> Blocks::part(int field, int rank, int size) const {
  return Decomposition::grid(fields_[static_cast<size_t>(field)].shape, grid(field, size), rank);
}

Dims Blocks::grid(int field, int size) const {
  return process_grid(size, fields_[static_cast<size_t>(field)].shape.rank(), fortran_);
}

nlohmann::json Blocks::describe(int size) const {
  const Dims& shape = fields_[0].shape;
  const Dims blocks = grid(0, size);
  return {{"shape", list(shape)},
          {"order", fortran_ ? "Fortran" : "C"},
          {"grid", list(blocks)},
          {"row_elements", shape[shape.rank() - 1] / blocks[shape.rank() - 1]}};
}

}  // namespace penstock::bench
