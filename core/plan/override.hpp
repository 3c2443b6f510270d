// Override: plans that the user sets outside the program, which take precedence over the program's own.
#pragma once

#include <string>
#include <string_view>

#include <penstock/status.hpp>

namespace penstock {

// Whether the shell PATTERN is one of PATH, or of its last component.
bool matches_path(const std::string& pattern, const std::string& path);

// The plan for the file PATH: PENSTOCK_PLAN if it is the text of a plan; else from the first matching entry in the TOML
// file named by PENSTOCK_PLAN=@FILE or PENSTOCK_PLANS=FILE; else FROM_CODE. The file is a list of
//     [[plan]]
//     pattern = "chk_*.h5"              # shell pattern, on PATH or on its last component
//     plan = "hdf5/two_phase:writers=2"
// with strings on one line; other TOML is not supported. Errors name file and line. Local: called on rank 0, since
// environments of ranks may differ.
Result<std::string> plan_override(std::string_view path, std::string_view from_code, const char* const* environment);

}  // namespace penstock
