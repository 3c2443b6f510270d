// Methods: the tables of what this build can do, joined for the planner and for listings.
#pragma once

#include "core/plan/plan.hpp"

namespace penstock {

const Catalog& catalog();
// The format for a new file of this name: by extension, else hdf5.
std::string_view format_of_path(std::string_view path);

}  // namespace penstock
