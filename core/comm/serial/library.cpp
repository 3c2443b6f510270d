// Library: no messages, no library.
#include "core/comm/library.hpp"

namespace penstock {

std::string message_library() { return "none"; }

}  // namespace penstock
