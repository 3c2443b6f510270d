// Library: the name of the message-passing library, and the ranks of its program.
#pragma once

#include <string>

namespace penstock {

// Local; also allowed before MPI_Init. "Open MPI v4.1.4"; "none" in a build without MPI.
std::string message_library();
// Local. The ranks of MPI_COMM_WORLD; 1 without MPI, and where MPI was not started or has ended.
int program_size();

}  // namespace penstock
