// Hints: parses MPI_Info hints and environment settings from plans and environments.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/base/hints.hpp"

namespace penstock {

// "name=value" pieces, separated by newlines or semicolons if there are any, else by commas. A piece without "=" after
// a comma belongs to the value before it (cb_config_list=a:1,b:1). "@FILE" reads FILE, with such pieces or ROMIO's own
// lines "name value"; "#" begins a comment. Errors name the piece, or file and line.
Result<Hints> parse_hints(std::string_view text);

// The hints in an environment ("NAME=VALUE" strings up to a null pointer, like `environ`): PENSTOCK_HINTS, or if that
// is empty IOR's IOR_HINT__MPI__name and IOR_HINT__GPFS__name, which both mean the MPI_Info hint `name`.
Result<Hints> hints_of_environment(const char* const* environment);

// Moves the parameters "hint.NAME" and "env.NAME" out of a plan's PARAMETERS.
struct KnobParameters {
  Hints hints, environment;
};
Result<KnobParameters> take_knobs(std::map<std::string, std::string>& parameters);
// The reverse: every hint and setting as parameter name and value.
std::map<std::string, std::string> knob_parameters(const Hints& hints, const Hints& environment);

// One line for each setting in the plan that differs from the process's ENVIRONMENT; it cannot be changed any more.
std::vector<std::string> environment_warnings(const Hints& wanted, const char* const* environment);

// The environment of this process, and the value of NAME in an environment.
const char* const* process_environment();
std::optional<std::string_view> find_setting(const char* const* environment, std::string_view name);

}  // namespace penstock
