// Units: byte counts as people write them, and in whole blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/status.hpp>

namespace penstock {

// "512MiB", "4k", "1.5 GiB", "4096": k, M, G, T and Ki, Mi, Gi, Ti all count in 1024 (as IOR does), B optional.
Result<int64_t> parse_bytes(std::string_view text);
std::string format_bytes(int64_t bytes);  // "512 MiB"

// The first multiple of UNIT, which is positive, that is no less than N, which is not negative.
constexpr int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace penstock
