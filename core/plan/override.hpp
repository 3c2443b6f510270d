// Override: plans that the user sets from outside, over what the code says.
#pragma once

#include <string>
#include <string_view>

#include <penstock/status.hpp>

namespace penstock {

// The plan for the file PATH: PENSTOCK_PLAN where that is a plan's text; else of the first matching entry of the TOML
// file that PENSTOCK_PLAN=@FILE or PENSTOCK_PLANS=FILE names; else FROM_CODE. The file is a list of
//     [[plan]]
//     pattern = "chk_*.h5"              # shell pattern, on PATH or on its last component
//     plan = "hdf5/two_phase:writers=2"
// with strings on one line, and no other TOML.
// Errors name file and line. Local: on rank 0, since environments of ranks may differ.
Result<std::string> plan_override(std::string_view path, std::string_view from_code, const char* const* environment);

}  // namespace penstock
