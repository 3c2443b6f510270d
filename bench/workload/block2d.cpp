// block2d: one S x S array in px x py blocks, after Haefele's benchmark of parallel output.
#include "bench/workload/blocks.hpp"

namespace penstock::bench {

Result<std::unique_ptr<Workload>> make_block2d(const WorkloadRequest& request) {
  auto shape = block_shape(request, 2);
  if (!shape) return shape.status().in("block2d");
  return std::unique_ptr<Workload>(
      std::make_unique<Blocks>(std::vector<Field>{{"field", *shape, request.type}}, request.fortran));
}

}  // namespace penstock::bench
