// block2d: one S x S array in px x py blocks, after Haefele's benchmark of parallel output.
//
// In C order the array is a[x][y] with y contiguous and ranks run along y first; in Fortran order it is a(x, y) with x
// contiguous and ranks run along x first, which is the transposed array in the transposed grid. px >= py, so that at
// two ranks C order makes whole rows and Fortran order makes half rows.
#include <fmt/format.h>
#include <cmath>

#include "bench/workload/workload.hpp"

namespace penstock::bench {

namespace {

class Block2d : public Workload {
 public:
  Block2d(int64_t side, bool fortran) : fortran_(fortran) {
    fields_.push_back({"field", Dims{side, side}, 0, side * side});
  }

  const std::vector<Field>& fields() const override { return fields_; }

  Result<Decomposition> part(int field, int rank, int size) const override {
    return Decomposition::grid(fields_[static_cast<size_t>(field)].shape, grid(size), rank);
  }

  bool read_by_rows() const override { return true; }

  nlohmann::json describe(int size) const override {
    const int64_t side = fields_[0].shape[0];
    const Dims blocks = grid(size);
    return {{"shape", {side, side}},
            {"order", fortran_ ? "Fortran" : "C"},
            {"grid", {blocks[0], blocks[1]}},
            {"row_elements", side / blocks[1]}};
  }

 private:
  // Blocks per dimension of the dataset, slowest first.
  Dims grid(int size) const {
    int64_t small = static_cast<int64_t>(std::sqrt(static_cast<double>(size)));
    while (size % small != 0) --small;
    const int64_t large = size / small;
    return fortran_ ? Dims{small, large} : Dims{large, small};
  }

  std::vector<Field> fields_;
  bool fortran_;
};

}  // namespace

Result<std::unique_ptr<Workload>> make_block2d(const WorkloadRequest& request) {
  const int64_t elements = request.total_bytes / bytes(request.type);
  const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(elements)));
  if (side < 1) return Status(Code::invalid, "block2d: --total is less than one element");
  return std::unique_ptr<Workload>(std::make_unique<Block2d>(side, request.fortran));
}

}  // namespace penstock::bench
