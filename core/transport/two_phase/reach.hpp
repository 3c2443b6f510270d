// Reach: which addresses a movement covers, and how settings have them cut into domains.
#pragma once

#include <cstdint>
#include <span>

#include "core/model/piece.hpp"
#include "core/transport/transport.hpp"
#include "core/transport/two_phase/domain.hpp"

namespace penstock {

// The address range of the pieces of one rank, or of all ranks.
struct Reach {
  int64_t begin = INT64_MAX, end = INT64_MIN;  // of all bytes; END <= BEGIN if there are none
  int64_t span = 0;  // from the first byte of a piece to its last: average per rank, then maximum over ranks
  void add(const Reach& other);
  bool operator==(const Reach&) const = default;
};

// Local.
Reach reach_of(std::span<const Piece> pieces);
// Local. The parameters of the cut from SETTINGS and the pieces of all ranks; the caller sets block and ranks.
Cut make_cut(const Reach& all, const Settings& settings, int64_t nodes);
// The limit of one rank for windows, for incoming and for outgoing messages: a quarter each; the last is for the plan.
int64_t share_of_memory(const Settings& settings);

}  // namespace penstock
