// Direction: whether data travels to files or back.
#pragma once

#include <cstdint>

namespace penstock {

enum class Direction : uint8_t { write, read };

}  // namespace penstock
