// checkpoint: the state of a simulation, some cubes in blocks, written occasionally between time steps.
#include <fmt/format.h>

#include "bench/workload/blocks.hpp"

namespace penstock::bench {

Result<std::unique_ptr<Workload>> make_checkpoint(const WorkloadRequest& request) {
  const int64_t n = integer_root(request.total_bytes / request.variables / bytes(request.type), 3);
  if (n < 1) return Status(Code::invalid, "checkpoint: --total is less than one element for each of --variables");
  std::vector<Field> fields;
  for (int variable = 0; variable < request.variables; ++variable)
    fields.push_back({fmt::format("state{:04}", variable), Dims{n, n, n}, request.type});
  return std::unique_ptr<Workload>(std::make_unique<Blocks>(std::move(fields), request.fortran));
}

}  // namespace penstock::bench
