// Sieving: data sieving of MPI-IO libraries, which undoes what other ranks write beside it, turned off.
#pragma once

#include <penstock/communicator.hpp>

#include "core/base/hints.hpp"

namespace penstock {

// Local. Sets parameters of OMPIO in the environment unless they are set, which works until the first file of the
// program is opened; called before each that we open. One turns sieving off; with MPI_THREAD_MULTIPLE, where OMPIO does
// not sieve, another keeps its collective calls from non-blocking ones, which two threads lose
// (docs/reproducers/two_threads.c).
void set_ompio_parameters();

// Collective over COMM, whose ranks are about to open a file together and to write into it. HINTS with what keeps the
// library from patching stretches of the file that other ranks write into (docs/reproducers/sieved_writes.c): for ROMIO
// romio_ds_write=disable, unless HINTS name it; OMPIO has no hint: where its parameter could not be turned off, one
// rank writes (cb_nodes=1). What costs the user something is said in OUTCOME (if not null).
Result<Hints> hints_for_writing(const Communicator& comm, Hints hints, HintsOutcome* outcome);

}  // namespace penstock
