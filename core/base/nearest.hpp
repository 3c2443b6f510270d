// Nearest: finds the name that a user probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// The name in NAMES that needs the fewest changes to become NAME (changes of case count little); "" if none is similar.
std::string nearest(std::string_view name, const std::vector<std::string>& names);
// "; did you mean 'rho'?", or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names);

}  // namespace penstock
