// Timeout: the limit, from the environment unless the program has set it.
#include <penstock/timeout.hpp>

#include <atomic>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace penstock {
namespace {

constexpr double by_default = 600;

bool is_limit(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

// What cannot be a limit is none of the user's choice: the default stays.
double of_environment() {
  const char* said = std::getenv("PENSTOCK_TIMEOUT");
  if (said == nullptr || *said == '\0') return by_default;
  char* end = nullptr;
  const double seconds = std::strtod(said, &end);
  return *end == '\0' && is_limit(seconds) ? seconds : by_default;
}

std::atomic<double>& limit() {
  static std::atomic<double> seconds = of_environment();
  return seconds;
}

}  // namespace

Status set_timeout(double seconds) {
  if (!is_limit(seconds))
    return {Code::invalid, fmt::format("{} s is no limit: pass seconds, or 0 to wait for ever", seconds)};
  limit() = seconds;
  return {};
}

double timeout() { return limit(); }

}  // namespace penstock
