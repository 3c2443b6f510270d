// Ramses: a model of the data that a RAMSES process writes per level, for sedov3d without refinement.
#pragma once

#include <cstdint>
#include <span>

#include "bench/workload/workload.hpp"

namespace penstock::bench {

enum class RamsesFile : uint8_t { amr, hydro };

// Octs of 8 cells that a process writes for one level: its own, and the copies of those around its domain.
struct Octs {
  int64_t own = 0, ghosts = 0;
};

// DOMAIN cells in each direction, a power of two, are levels 1 to log2(DOMAIN) of full grids with 8^(level-1) octs
// each, distributed along a curve. The model assumes that a process's share of a level is a cube of octs with one layer
// of ghosts on every side, as far as other octs exist.
int level_count(int64_t domain);
Octs octs(int level, int rank, int ranks);

// Size of the files of RANKS processes, in bytes.
struct RamsesTotals {
  int64_t cells = 0, ghosts = 0, tables = 0;  // of octs, of ghost octs, of everything else
  int64_t bytes() const { return cells + ghosts + tables; }
};
RamsesTotals ramses_totals(RamsesFile file, int64_t domain, int ranks);

// The sizes that IDRIS published for 1024 processes (13 January 2011), GiB.
struct Published {
  int64_t domain;
  double amr, hydro;
};
std::span<const Published> published_sizes();

}  // namespace penstock::bench
