// Ramses: how much a process of RAMSES writes of each level, modelled for sedov3d without refinement.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bench/workload/workload.hpp"

namespace penstock::bench {

enum class RamsesFile : uint8_t { amr, hydro };

// Octs of 8 cells that a process writes of one level: its own, and those around its domain that it keeps copies of.
struct Octs {
  int64_t own = 0, ghosts = 0;
};

// DOMAIN cells in each direction, a power of two, are levels 1 to log2(DOMAIN) of full grids, 8^(level-1) octs each,
// dealt out along a curve. A process's share of a level is taken as a cube of octs, with one layer of ghosts on every
// side as far as there are so many others.
int level_count(int64_t domain);
Octs octs(int level, int rank, int ranks);

// Bytes of the file of RANKS processes.
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
