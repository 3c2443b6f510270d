// Tell apart: two attributes that differ, as a message shows them.
#pragma once

#include <string>
#include <utility>

#include <penstock/attribute.hpp>

namespace penstock {

// {"0.5", "0.25"}, {"'m'", "'cm'"}; with types where these differ, {"i32 1", "f64 1"}, and with shapes. Of what is
// long, only the part where the first difference is: {"3 at (7)", "4 at (7)"}.
std::pair<std::string, std::string> tell_apart(const Attribute& a, const Attribute& b);

}  // namespace penstock
