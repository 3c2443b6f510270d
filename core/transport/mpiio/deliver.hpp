// Deliver: bytes of the file that some rank has read reach those whose pieces want them.
#pragma once

#include <span>
#include <vector>

#include "core/transport/transport.hpp"

namespace penstock::mpiio {

// The bytes [begin, end) of the virtual address space that RANK has read.
struct Holding {
  int rank = 0;
  int64_t begin = 0, end = 0;
};

// Collective. HOLDINGS, the same list on every rank, has at most one of this rank, whose bytes MINE are; MINE is empty
// where they could not be read, which is Code::elsewhere for those who want them. Memory: what the ranks hold, and a
// description of what is wanted of it.
Status deliver(const Job& job, const std::vector<const Piece*>& pieces, std::span<const Holding> holdings,
               std::span<const std::byte> mine);

// How much one rank may hold, so that even a rank that wants everything has room for it.
int64_t holding_bytes(const Job& job, int64_t wanted);

}  // namespace penstock::mpiio
