// Units: parses and formats byte counts, and rounds them to whole blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/status.hpp>

namespace penstock {

// "512MiB", "4k", "1.5 GiB", "4096". k, M, G, T and Ki, Mi, Gi, Ti are powers of 1024 (as in IOR); B is optional.
Result<int64_t> parse_bytes(std::string_view text);
std::string format_bytes(int64_t bytes);  // "512 MiB"

// The first multiple of UNIT that is at least N. REQUIRES: UNIT > 0, N >= 0.
constexpr int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace penstock
