// Portions: divides a rank's claims into portions for single calls of an engine's library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/model/claim.hpp"

namespace penstock {

// A box, or the part of its runs inside [begin, end).
struct Portion {
  Selection selection;
  int64_t begin = 0;
  int64_t end = INT64_MAX;
  int64_t count = 0;                   // elements
  std::byte* memory = nullptr;         // same as in the claim
  std::byte* packed = nullptr;         // the elements in file order if contiguous; else null
  const Supplier* supplier = nullptr;  // instead of memory
  Status* supplied = nullptr;          // of the job
};

struct PortionLimits {
  int64_t direct_bytes = int64_t{1} << 30;    // if the library takes the elements in place
  int64_t staged_bytes = int64_t{16} << 20;   // if they are packed first
  int64_t boxes = 4096;                       // in the runs of one portion, approximately; exactly if 1
  bool (*takes)(const Selection&) = nullptr;  // boxes with gaps in memory that the library accepts
};

// This rank's portions of PROBLEM's dataset AT, in the order of its claims.
std::vector<Portion> portions_of(const EngineJob& job, size_t at, const PortionLimits& limits);
// The boxes of the dataset that PORTION covers, in ascending order.
std::vector<Box> boxes_of(const Portion& portion);
// Copies PORTION's elements between memory and a dense BUFFER.
void copy(const Portion& portion, int64_t element_bytes, std::byte* buffer, Direction direction);

// Collective. For each of EngineJob::datasets the largest number of portions on any rank: the number of calls that all
// ranks must make.
Result<std::vector<int64_t>> rounds_of(const EngineJob& job, const PortionLimits& limits);
// Collective. For each of EngineJob::datasets the extents of the largest block on any rank (for runs an even share of
// rows), none zero.
Result<std::vector<Dims>> largest_blocks(const EngineJob& job);

}  // namespace penstock
