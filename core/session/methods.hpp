// Methods: the tables of what this build can do, joined for the planner and for listings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/plan/plan.hpp"

namespace penstock {

const Catalog& catalog();
// The format for a new file of this name: by extension, hdf5 without one, "" for one that is not known.
std::string_view format_of_path(std::string_view path);
// "hdf5 is .h5 .hdf5, netcdf is .nc"
std::string known_extensions_text();

// One way to write a file that has a name of its own in listings and comparisons.
struct MethodRow {
  std::string plan;  // "hdf5/two_phase", "raw/mpiio:coordination=independent,layout=chunks,positioning=shared", "phdf5"
  std::string summary;  // when it is good
  std::string refused;  // why it cannot be had: not built, or there is no such thing; "" where it can
};
// Every format x transport, every alias and placement, every engine with its ways of access, and for a transport whose
// parameters combine (mpiio) each of their combinations once.
std::vector<MethodRow> method_table();

}  // namespace penstock
