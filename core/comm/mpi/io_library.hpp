// IoLibrary: the MPI-IO implementation in use, how it treats hints, and data sieving, by which it overwrites
// neighbouring writes of other ranks.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include <penstock/communicator.hpp>

#include "core/base/hints.hpp"

namespace penstock {

// OMPIO is Open MPI's own implementation. Open MPI's ROMIO is older than other versions and echoes hints.
enum class IoLibrary : uint8_t { romio, open_mpi_romio, ompio };

// "MPICH Version: 4.0.2"
std::string mpi_library_name();

// Collective over the ranks of FILE. Its view must be bytes from 0 on.
Result<IoLibrary> io_library_of(MPI_File file);
// Collective over COMM. The implementation that opens the existing file at PATH; rank 0 tests it.
IoLibrary io_library_of(const Communicator& comm, const std::string& path);

// Warns in OUTCOME (if not null) that data was read independently, since collective reads of OMPIO lose elements if
// ranks overlap.
void warn_of_ompio(HintsOutcome* outcome);

// Local, before a file is opened. Rejects hints that crash the program; sets parameters of OMPIO.
Status check_hints(const Hints& hints);

// Collective over COMM, whose ranks are about to open a file together for writing. Returns HINTS with additions that
// keep the library from rewriting regions that other ranks write (docs/reproducers/sieved_writes.c). For ROMIO:
// romio_ds_write=disable, unless HINTS sets it. OMPIO has no such hint: if its parameter could not be set, one rank
// writes (cb_nodes=1). OUTCOME (if not null) reports additions that cost performance.
Result<Hints> hints_for_writing(const Communicator& comm, Hints hints, HintsOutcome* outcome);

// Local. Adds a warning for every hint that LIBRARY does not report back, reports with another value, or reports but
// ignores. Names that begin with OWN belong to the caller of MPI-IO; only EFFECTIVE decides about them.
void judge_hints(const Hints& asked, const Hints& effective, IoLibrary library, const CommunicatorInterface& comm,
                 HintsOutcome& outcome, std::string_view own = {});

}  // namespace penstock
