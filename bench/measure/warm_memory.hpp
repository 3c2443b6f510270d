// Warm memory: makes free memory of a virtual machine real before a measurement.
#pragma once

#include <cstdint>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock::bench {

// Collective, untimed. Touches memory for BYTES of all ranks together, at most a quarter of what is available on a
// node, and gives it back to the kernel. A hypervisor with free page reporting takes the memory of a virtual machine
// back after it has been free for seconds. The next use of such a page takes about ten times as long as the write of a
// page into the page cache, in whichever method happens to be the first.
Status warm_memory(const Communicator& comm, int64_t bytes);

}  // namespace penstock::bench
