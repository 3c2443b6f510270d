// block3d: one cube in px x py x pz blocks with short rows, as most finite-difference codes write.
#include "bench/workload/blocks.hpp"

namespace penstock::bench {

Result<std::unique_ptr<Workload>> make_block3d(const WorkloadRequest& request) {
  auto shape = block_shape(request, 3);
  if (!shape) return shape.status().in("block3d");
  return std::unique_ptr<Workload>(
      std::make_unique<Blocks>(std::vector<Field>{{"field", *shape, request.type}}, request.fortran));
}

}  // namespace penstock::bench
