// Striping: what a target's folder lies on, and new files with the stripes that the plan asks for.
#pragma once

#include <string>

#include "core/session/state.hpp"

namespace penstock {

// What rank 0 finds out about the folder of a target, for all ranks.
struct Ground {
  std::string text;  // for the report; "" where it cannot be found out
  bool has_stripes = false;
};
Ground find_ground(const std::string& path);

// Local. From now on the state's storage makes files with the plan's stripes; where there are none, that is a warning.
Status set_striping(File::State& state, const Ground& ground);

}  // namespace penstock
