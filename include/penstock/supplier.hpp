// Supplier: elements that are not in memory as a whole, asked for in pieces while they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <penstock/status.hpp>

namespace penstock {

// Fills BYTES with elements from FIRST on, counted in the block's own order, in this machine's byte order. A status that is not ok,
// or an exception, makes the commit fail with it on all ranks.
using Supplier = std::function<Status(int64_t first, std::span<std::byte> bytes)>;

}  // namespace penstock
