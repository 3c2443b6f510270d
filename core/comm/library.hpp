// Library: which one passes the messages.
#pragma once

#include <string>

namespace penstock {

// Local, before MPI_Init too. "Open MPI v4.1.4"; "none" in a build without MPI.
std::string message_library();

}  // namespace penstock
