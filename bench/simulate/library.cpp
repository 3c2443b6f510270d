// Library: calls of HDF5 1.10.8 and PnetCDF 1.12.3, counted on two ranks with 4, 16 and 64 datasets.
#include "bench/simulate/library.hpp"

#include <algorithm>
#include <cmath>

namespace penstock::bench {

namespace {

// HDF5 wrote 16, 32 and 92 pieces of metadata, shared out among the ranks, in the flush when the file is closed.
constexpr double writes_of_file = 11, writes_of_dataset = 1.27;
// Each rank read 11, 27 and 87 pieces, by itself, in 1, 3 and 14 stretches of 64 KiB. A node reads each stretch once.
constexpr double first_stretch_datasets = 4, datasets_in_stretch = 5;

}  // namespace

void add_hdf5(Demand& d, int64_t datasets, bool write) {
  const auto count = static_cast<double>(datasets);
  d.metadata_places = 1 + std::max(0.0, count - first_stretch_datasets) / datasets_in_stretch;
  if (!write) return;
  d.metadata_writes = writes_of_file + writes_of_dataset * count;
  d.sets_size = true;
}

// Rank 0 writes or reads the header, in one call, and the others wait for it.
void add_pnetcdf(Demand& d, bool independent, const Machine& machine) {
  d.turns += machine.call_seconds / machine.message_seconds;
  d.rounds += 1;
  if (independent) d.opens += static_cast<double>(d.ranks);
}

double library_seconds(const Demand& d, const Machine& m, bool write) {
  const double places = d.metadata_places;
  if (places == 0) return 0;
  const auto servers = static_cast<double>(m.lock_servers > 0 ? m.lock_servers : d.targets);
  const bool shared = d.nodes > 1;
  // One after another where they lie together, else on as many servers as there are places.
  const auto requests = [&](double count, double locked) {
    return count * std::max((shared ? locked : 0) / std::min(places, servers),
                            m.target_call_seconds / std::min(places, static_cast<double>(d.targets)));
  };
  if (!write) return places * m.call_seconds + requests(static_cast<double>(d.nodes) * places, m.grant_seconds);
  double seconds = std::ceil(d.metadata_writes / static_cast<double>(d.ranks)) * m.call_seconds +
                   requests(d.metadata_writes, m.lock_seconds);
  // A lock from the new size to the end: where each target gives its own locks, one target after another.
  if (d.sets_size) seconds += m.open_seconds + m.call_seconds + (shared ? servers * m.lock_seconds : 0);
  return seconds;
}

}  // namespace penstock::bench
