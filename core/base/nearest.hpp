// Nearest: the name that somebody may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// Of NAMES, that which needs the fewest changes to become NAME, letters in the other case counting little; "" where
// none is alike.
std::string nearest(std::string_view name, const std::vector<std::string>& names);
// "; did you mean 'rho'?", or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names);

}  // namespace penstock
