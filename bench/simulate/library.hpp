// Library: what HDF5 and PnetCDF do beside moving data: metadata, the file's size, second opens.
#pragma once

#include "bench/simulate/demand.hpp"

namespace penstock::bench {

// Both are for one file of DATASETS datasets, and were counted in system calls (docs/simulate.md).
void add_hdf5(Demand& demand, int64_t datasets, bool write);
// INDEPENDENT: each rank opens the file a second time by itself.
void add_pnetcdf(Demand& demand, bool independent, const Machine& machine);

// Before the data, if it is read, or after it.
double library_seconds(const Demand& demand, const Machine& machine, bool write);

}  // namespace penstock::bench
