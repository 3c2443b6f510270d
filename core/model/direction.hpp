// Direction: whether data moves to files or from files.
#pragma once

#include <cstdint>

namespace penstock {

enum class Direction : uint8_t { write, read };

}  // namespace penstock
