// block2d: one S x S array in px x py blocks, after Haefele's benchmark of parallel output. block3d: one cube in
// px x py x pz blocks with short rows, as most finite-difference codes write.
#include <fmt/format.h>

#include "bench/workload/blocks.hpp"

namespace penstock::bench {

namespace {

Result<std::unique_ptr<Workload>> make_block(const WorkloadRequest& request, int dimensions) {
  auto shape = block_shape(request, dimensions);
  if (!shape) return shape.status().in(fmt::format("block{}d", dimensions));
  return std::unique_ptr<Workload>(
      std::make_unique<Blocks>(std::vector<Field>{{"field", *shape, request.type}}, request.fortran));
}

}  // namespace

Result<std::unique_ptr<Workload>> make_block2d(const WorkloadRequest& request) { return make_block(request, 2); }

Result<std::unique_ptr<Workload>> make_block3d(const WorkloadRequest& request) { return make_block(request, 3); }

}  // namespace penstock::bench
