// Blocks: arrays divided over grids of processes; the base of all workloads of regular blocks.
#pragma once

#include "bench/workload/workload.hpp"

namespace penstock::bench {

// SIZE processes in a grid with extents as equal as its divisors allow, the largest first: {2, 2}, {7, 1}, {4, 2, 2}.
Dims squarest_grid(int size, int dimensions);
// The largest N with N^POWER <= VALUE, and 0 for a VALUE below 1.
int64_t integer_root(int64_t value, int power);

// A square or cube of about the requested bytes. With row_bytes instead: each rank's rows, which are contiguous in the
// file, have about this size, and the other extents are equal.
Result<Dims> block_shape(const WorkloadRequest& request, int dimensions);

// Every field divided evenly over a grid of the ranks. In C order the last dimension of the grid is its smallest, as
// for a[x][y] with ranks along y first. In Fortran order (the transposed array in the transposed grid) it is the
// largest. With two ranks C order gives whole rows and Fortran order half rows.
class Blocks : public Workload {
 public:
  // Numbers the elements of FIELDS, which have names, shapes and types.
  Blocks(std::vector<Field> fields, bool fortran);
  const std::vector<Field>& fields() const override { return fields_; }
  Result<Decomposition> part(int field, int rank, int size) const override;
  bool read_by_rows() const override { return true; }
  nlohmann::json describe(int size) const override;

 protected:
  // Blocks per dimension of FIELD, slowest first.
  virtual Dims grid(int field, int size) const;

 private:
  std::vector<Field> fields_;
  bool fortran_;
};

}  // namespace penstock::bench
