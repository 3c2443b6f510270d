// block2d: one S x S array in px x py blocks, after Haefele's benchmark of parallel output. block3d: one cube in
// px x py x pz blocks with short rows, as most finite-difference codes write. columns: arrays with a stated number of
// contiguous bytes, to stand for another program's commit of so many blocks.
#include <fmt/format.h>
#include <algorithm>

#include "bench/workload/blocks.hpp"

namespace penstock::bench {

namespace {

Result<std::unique_ptr<Workload>> make_block(const WorkloadRequest& request, int dimensions) {
  auto shape = block_shape(request, dimensions);
  if (!shape) return shape.status().in(fmt::format("block{}d", dimensions));
  return std::unique_ptr<Workload>(
      std::make_unique<Blocks>(std::vector<Field>{{"field", *shape, request.type}}, request.fortran));
}

class Columns : public Blocks {
 public:
  using Blocks::Blocks;

 private:
  Dims grid(int /*field*/, int size) const override { return Dims{1, size}; }
};

}  // namespace

Result<std::unique_ptr<Workload>> make_columns(const WorkloadRequest& request) {
  const int64_t size = bytes(request.type), arrays = request.datasets;
  const int64_t share = request.total_bytes / request.ranks / std::max<int64_t>(1, arrays) / size;  // elements
  if (arrays < 1 || share < 1) return Status(Code::invalid, "columns: less than one element for each rank and dataset");
  const int64_t wanted = request.row_bytes == 0 ? share : std::clamp<int64_t>(request.row_bytes / size, 1, share);
  const int64_t rows = share / wanted, row = share / rows;  // rather all bytes than rows of the very length
  std::vector<Field> fields;
  for (int64_t i = 0; i < arrays; ++i)
    fields.push_back({fmt::format("columns{:06}", i), Dims{rows, row * request.ranks}, request.type});
  return std::unique_ptr<Workload>(std::make_unique<Columns>(std::move(fields), false));
}

Result<std::unique_ptr<Workload>> make_block2d(const WorkloadRequest& request) { return make_block(request, 2); }

Result<std::unique_ptr<Workload>> make_block3d(const WorkloadRequest& request) { return make_block(request, 3); }

}  // namespace penstock::bench
