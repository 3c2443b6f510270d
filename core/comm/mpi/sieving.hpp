// Sieving: disables data sieving in MPI-IO libraries, which overwrites neighbouring writes of other ranks.
#pragma once

#include <penstock/communicator.hpp>

#include "core/base/hints.hpp"

namespace penstock {

// Local. Sets parameters of OMPIO in the environment unless they are set. They take effect only before the program
// opens its first file, so this is called before each open. One parameter disables sieving. With MPI_THREAD_MULTIPLE
// OMPIO does not sieve; another parameter then keeps its collective calls from using non-blocking ones, which fail with
// two threads (docs/reproducers/two_threads.c).
void set_ompio_parameters();

// Collective over COMM, whose ranks are about to open a file together for writing. Returns HINTS with additions that
// keep the library from rewriting regions that other ranks write (docs/reproducers/sieved_writes.c). For ROMIO:
// romio_ds_write=disable, unless HINTS sets it. OMPIO has no such hint: if its parameter could not be set, one rank
// writes (cb_nodes=1). OUTCOME (if not null) reports additions that cost performance.
Result<Hints> hints_for_writing(const Communicator& comm, Hints hints, HintsOutcome* outcome);

}  // namespace penstock
