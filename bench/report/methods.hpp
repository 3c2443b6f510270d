// Methods as JSON: formats, placements, transports, engines, their parameters, and all combinations.
#pragma once

#include <nlohmann/json.hpp>

namespace penstock::bench {

nlohmann::json methods_json();

}  // namespace penstock::bench
