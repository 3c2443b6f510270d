// Supplier: produces elements in pieces while they are written, for data that is not in memory as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <penstock/status.hpp>

namespace penstock {

// Fills BYTES with elements, starting at element FIRST in the order of the block, in native byte order. An error status
// or an exception makes the commit fail with it on all ranks.
using Supplier = std::function<Status(int64_t first, std::span<std::byte> bytes)>;

}  // namespace penstock
