// RoundCall: one round of a rank in one MPI-IO access, with everything that must live until it is done.
#pragma once

#include "core/transport/mpiio/access.hpp"
#include "core/transport/mpiio/types.hpp"

namespace penstock::mpiio {

// The maximum number of zero bytes after a round's data.
inline constexpr int64_t max_padding = 64 << 10;
// Non-blocking calls, each with its own buffer.
inline constexpr size_t max_in_flight = 8;

class RoundCall {
 public:
  // Describes ROUND's memory in elements of UNIT bytes; packs data if CELL writes and needs it. PADDING zeros follow.
  Status prepare(Round round, int64_t unit, Direction direction, PhaseTimes& phases, int64_t padding = 0);
  // Instead: reads into MEMORY as it is.
  Status prepare_read(std::span<std::byte> memory);
  // Puts HEADER before the data.
  void put_before(std::span<const std::byte> header) { header_.assign(header.begin(), header.end()); }
  // Collective if CELL is. OFFSET is in units.
  Status start(const Cell& cell, MPI_File file, int64_t offset);
  Result<bool> test() { return access_.test(); }
  // Collective for split calls. Unpacks data that was read; a short count is an error.
  Status finish(PhaseTimes& phases);
  // Whether start() made a call that finish() must complete.
  bool started() const { return started_; }

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
