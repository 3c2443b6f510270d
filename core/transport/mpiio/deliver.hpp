// Deliver: sends bytes of the file from the ranks that read them to the ranks whose pieces need them.
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

// Collective. HOLDINGS is the same list on every rank, with at most one entry of this rank; MINE are its bytes. MINE is
// empty if they could not be read; ranks that need them then get Code::elsewhere. Memory: the holdings of the ranks,
// and a description of the requested part.
Status deliver(const Job& job, const std::vector<const Piece*>& pieces, std::span<const Holding> holdings,
               std::span<const std::byte> mine);

// The amount that one rank may hold, so that a rank that needs everything has room for it.
int64_t holding_bytes(const Job& job, int64_t wanted);

}  // namespace penstock::mpiio
