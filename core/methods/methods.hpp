// Methods: tables of what this build supports, joined for the planner and for listings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/claim.hpp"
#include "core/plan/plan.hpp"

namespace penstock {

const Vocabulary& vocabulary();
// The format for a new file of this name, by extension: hdf5 if it has none, "" if it is unknown.
std::string_view format_of_path(std::string_view path);
// "hdf5 is .h5 .hdf5, netcdf is .nc"
std::string known_extensions_text();

// Whether files of PLAN are sets: a master, with parts beside it.
bool is_set(const Plan& plan);
// ok, or why the transport of PLAN cannot move data in DIRECTION, or its format and placement cannot encode it.
Status check_transport(const Plan& plan, Direction direction);
// ok, or why format and placement of PLAN cannot encode as SETTINGS say: its own, or those of one dataset.
Status check_compression(const Plan& plan, const Settings& settings);

// Transports with the parameters that have made a difference, for a planner to choose from on RANKS ranks; the default
// first. Without servers, which take cores from the program, and without those that are not built.
std::vector<std::string> plans_to_try(int64_t ranks);
// The default with other numbers of stripes, for new files on file systems that have some; what promises most first.
std::vector<std::string> stripes_to_try();

// One method of writing a file, with its own name in listings and comparisons.
struct MethodRow {
  std::string plan;  // "hdf5/two_phase", "raw/mpiio:coordination=independent,layout=chunks,positioning=shared", "phdf5"
  std::string summary;  // when to use it
  std::string refused;  // why it is not available: not built, or not defined; "" if it is available
};
// All formats x transports, aliases and placements, engines with their access methods, and for a transport with
// combinable parameters (mpiio) each combination once.
std::vector<MethodRow> method_table();

}  // namespace penstock
