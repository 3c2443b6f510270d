// ResidentPeak: the maximum growth of this process's resident memory since its construction, from any allocation.
#pragma once

#include <cstdint>
#include <optional>

namespace penstock::bench {

// Uses the kernel's high-water mark after a reset (Linux, proc(5): clear_refs, VmHWM). It includes the buffers of MPI
// and HDF5, and touched pages of shared memory. It excludes memory that was resident before: windows that an earlier
// run left, and freed memory that malloc kept, count only in the first run that needs them.
class ResidentPeak {
 public:
  ResidentPeak();
  std::optional<int64_t> growth() const;  // bytes; nothing if the kernel does not report it

 private:
  std::optional<int64_t> before_;
};

}  // namespace penstock::bench
