// IoLibrary: which implementation of MPI-IO is at work, and what it makes of hints.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include <penstock/communicator.hpp>

#include "core/base/hints.hpp"

namespace penstock {

// OMPIO is Open MPI's own. Open MPI's ROMIO is older than others, and its hints are echoed.
enum class IoLibrary : uint8_t { romio, open_mpi_romio, ompio };

// "MPICH Version: 4.0.2"
std::string mpi_library_name();

// Collective over the ranks of FILE, whose view must be that of bytes from 0 on.
Result<IoLibrary> io_library_of(MPI_File file);
// Collective over COMM. The one that opens the file at PATH, which is there: rank 0 looks.
IoLibrary io_library_of(const Communicator& comm, const std::string& path);

// Says in OUTCOME (if not null) that data was read independently, since collective reads of OMPIO lose elements where
// ranks overlap.
void warn_of_ompio(HintsOutcome* outcome);

// Local, before a file is opened. Refuses hints that kill the program; set_ompio_parameters().
Status check_hints(const Hints& hints);

// Local. Adds a warning for every hint that LIBRARY does not report back, or with another value, or reports back though
// it does nothing with it. Names that begin with OWN belong to who calls MPI-IO, and are judged by EFFECTIVE alone.
void judge_hints(const Hints& asked, const Hints& effective, IoLibrary library, const CommunicatorInterface& comm,
                 HintsOutcome& outcome, std::string_view own = {});

}  // namespace penstock
