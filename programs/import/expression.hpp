// Expression: sums, differences and products of integers and named values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <penstock/status.hpp>

namespace penstock::importing {

using Values = std::map<std::string, int64_t, std::less<>>;

// "2 * nx + 1": products before sums, no parentheses, nothing else. Code::invalid for other text, Code::damaged for a
// result beyond 64 bits, since the numbers come from a file.
Result<int64_t> evaluate(std::string_view text, const Values& values);

}  // namespace penstock::importing
