// Tell apart: formats two different attributes for a message.
#pragma once

#include <string>
#include <utility>

#include <penstock/attribute.hpp>

namespace penstock {

// {"0.5", "0.25"}, {"'m'", "'cm'"}; with types or shapes if these differ, {"i32 1", "f64 1"}. Of long values only the
// part with the first difference: {"3 at (7)", "4 at (7)"}.
std::pair<std::string, std::string> tell_apart(const Attribute& a, const Attribute& b);

}  // namespace penstock
