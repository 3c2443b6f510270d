// Methods as JSON: formats, placements, transports, engines, their parameters, and every way that they make together.
#pragma once

#include <nlohmann/json.hpp>

namespace penstock::bench {

nlohmann::json methods_json();

}  // namespace penstock::bench
