// RoundCall: one round of a rank on its way through one access of MPI-IO, with everything that must live until it is
// done.
#pragma once

#include "core/transport/mpiio/access.hpp"
#include "core/transport/mpiio/open_file.hpp"
#include "core/transport/mpiio/types.hpp"

namespace penstock::mpiio {

// Zero bytes that follow a round's data, at most this many.
inline constexpr int64_t most_padding = 64 << 10;

class RoundCall {
 public:
  // Describes ROUND's memory in elements of UNIT bytes; packs what has to be where CELL writes. PADDING zeros follow.
  Status prepare(Round round, const Limits& limits, int64_t unit, Direction direction, PhaseTimes& phases,
                 int64_t padding = 0);
  // HEADER before the data.
  void put_before(std::span<const std::byte> header) { header_.assign(header.begin(), header.end()); }
  // Collective where CELL is. OFFSET in units.
  Status start(const Cell& cell, MPI_File file, int64_t offset);
  Result<bool> test() { return access_.test(); }
  // Collective for split calls. Unpacks what was read; a short count is an error.
  Status finish(PhaseTimes& phases);
  // Whether start() came to a call that finish() must end.
  bool started() const { return started_; }
  int64_t bytes() const { return bytes_; }

 private:
  Round round_;
  MemoryType memory_;
  std::vector<std::byte> header_, staging_;
  std::vector<Stretch> staged_;  // in the order of staging_
  int64_t bytes_ = 0;
  Direction direction_ = Direction::write;
  bool started_ = false;
  Access access_;
};

}  // namespace penstock::mpiio
