// Timeout: the limit, from the environment unless the program has set it.
#include <penstock/timeout.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/base/waiting.hpp"

namespace penstock {
namespace {

constexpr double by_default = 600;

bool is_limit(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

// Below 0 if it is not a number; the default if it is not set.
double of_environment() {
  const char* said = std::getenv("PENSTOCK_TIMEOUT");
  if (said == nullptr || *said == '\0') return by_default;
  char* end = nullptr;
  const double seconds = std::strtod(said, &end);
  return *end == '\0' && is_limit(seconds) ? seconds : -1;
}

std::atomic<double>& limit() {
  static std::atomic<double> seconds = of_environment() < 0 ? by_default : of_environment();
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

namespace {

struct Listener {
  std::mutex mutex;
  std::function<void(const Waiting&)> tell;
  std::atomic<double> after = std::numeric_limits<double>::infinity();
};

Listener& listener() {
  static auto& one = *new Listener;  // threads may wait until the program ends
  return one;
}

}  // namespace

void when_waiting(std::function<void(const Waiting&)> tell, double seconds) {
  Listener& one = listener();
  const std::lock_guard lock(one.mutex);
  one.after = tell ? std::max(seconds, 0.1) : std::numeric_limits<double>::infinity();
  one.tell = std::move(tell);
}

double told_after() { return listener().after; }

void tell_waiting(const Waiting& waiting) {
  Listener& one = listener();
  const std::lock_guard lock(one.mutex);
  if (one.tell) one.tell(waiting);
}

std::string timeout_warning() {
  if (of_environment() >= 0) return {};
  return fmt::format("PENSTOCK_TIMEOUT={} is no number of seconds from 0 on: the limit is {:g} s",
                     std::getenv("PENSTOCK_TIMEOUT"), timeout());
}

}  // namespace penstock
