// Library: no messages, no library.
#include "core/comm/library.hpp"

namespace penstock {

std::string message_library() { return "none"; }
int program_size() { return 1; }

}  // namespace penstock
