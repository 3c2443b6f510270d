// Supply: elements that a function of the program produces in pieces during a commit.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/commit/moving.hpp"

namespace penstock {

// Local. Calls SUPPLIER for the elements of SELECTION, whose memory counts in SUPPLIER's order, in windows of at most
// MAX_BYTES. USE gets each window: its runs, in SELECTION's shape, whose memory is in BYTES.
using UseSupplied = std::function<Status(std::vector<MemoryRun> runs, std::span<std::byte> bytes)>;
Status for_each_supplied(const Supplier& supplier, const Selection& selection, int64_t element_bytes, int64_t max_bytes,
                         const UseSupplied& use);

// Collective, after the files are laid out. Calls this rank's suppliers, but for datasets that are encoded, adds their
// data to the checksums and, except for engines, writes it; the transport does not move it. Does not sync. Same status
// on all ranks.
Status supply(const Target& target, Moving& moving, Report& report);

}  // namespace penstock
