// The benchmarks of process_vm_readv against packing, for penstock-bench-kernels.
#pragma once

namespace penstock {

// Registers them. Each forks when it runs, so no other thread may exist.
void add_neighbour_reads();

}  // namespace penstock
