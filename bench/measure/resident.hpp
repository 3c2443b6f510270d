// ResidentPeak: by how much this process's resident memory grew at most since a moment, whoever allocated it.
#pragma once

#include <cstdint>

namespace penstock::bench {

// By the kernel's high-water mark, which is reset for it (Linux, proc(5): clear_refs, VmHWM). So the buffers of MPI and of
// HDF5 count too, and pages of shared memory that this process touched count for it; what was resident before does not.
class ResidentPeak {
 public:
  ResidentPeak();
  int64_t growth() const;  // bytes; 0 where the kernel does not say

 private:
  int64_t before_ = 0;
};

}  // namespace penstock::bench
