// ResidentPeak: by how much this process's resident memory grew at most since a moment, whoever allocated it.
#pragma once

#include <cstdint>
#include <optional>

namespace penstock::bench {

// By the kernel's high-water mark, which is reset for it (Linux, proc(5): clear_refs, VmHWM). So the buffers of MPI and
// of HDF5 count, and pages of shared memory that this process touched. What was resident before does not: windows that
// an earlier run left to the next, and what malloc kept of what was freed, are counted in the first run that needs
// them.
class ResidentPeak {
 public:
  ResidentPeak();
  std::optional<int64_t> growth() const;  // bytes; none where the kernel does not say

 private:
  std::optional<int64_t> before_;
};

}  // namespace penstock::bench
