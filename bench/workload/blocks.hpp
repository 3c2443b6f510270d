// Blocks: arrays that are cut over grids of processes, which all workloads of regular blocks share.
#pragma once

#include "bench/workload/workload.hpp"

namespace penstock::bench {

// SIZE processes in a grid of as equal extents as its divisors allow, the largest first: {2, 2}, {7, 1}, {4, 2, 2}.
Dims squarest_grid(int size, int dimensions);
// The largest N with N^POWER <= VALUE, and 0 for a VALUE below 1.
int64_t integer_root(int64_t value, int power);

// A square or cube of about the bytes asked for. With row_bytes, instead: each rank's rows, which are contiguous in the
// file, have about so many bytes, and the other extents are equal.
Result<Dims> block_shape(const WorkloadRequest& request, int dimensions);

// Every field cut evenly over a grid of the ranks. In C order the last dimension of the grid is its smallest, as that
// of a[x][y] whose ranks run along y first; in Fortran order, which is the transposed array in the transposed grid, its
// largest: at two ranks C order makes whole rows and Fortran order half rows.
class Blocks : public Workload {
 public:
  // Numbers the elements of FIELDS, whose names, shapes and types are given.
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
