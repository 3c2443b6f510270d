// Library: the name of the message-passing library.
#pragma once

#include <string>

namespace penstock {

// Local; also allowed before MPI_Init. "Open MPI v4.1.4"; "none" in a build without MPI.
std::string message_library();

}  // namespace penstock
