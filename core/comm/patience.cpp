// Patience: the limit, for waits without a communicator.
#include "core/comm/patience.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <penstock/communicator.hpp>
#include <penstock/timeout.hpp>

#include "core/base/waiting.hpp"

namespace penstock {

Status check_limit(double idle, std::string_view what) {
  const double limit = timeout();
  thread_local Telling telling;
  if (telling.due(idle)) {
    tell_waiting({fmt::format("waiting for {} for {:.0f} s", what, idle), idle});
    telling.told(idle);
  }
  if (limit <= 0 || idle < limit) return {};
  return {Code::timeout,
          fmt::format("waiting for {} for {:g} s, and nothing moves: PENSTOCK_TIMEOUT or set_timeout is the "
                      "limit",
                      what, limit)};
}

void keep_for_ever(std::shared_ptr<const void> memory) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::shared_ptr<const void>>;  // not destroyed at the program's end
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(memory));
}

double grace() { return std::clamp(timeout() / 4, 1.0, 5.0); }

Result<double> Request::State::waited(double idle, std::string_view what) {
  PENSTOCK_TRY(check_limit(idle, what));
  return idle;
}

Result<double> CommunicatorInterface::waited(double idle, std::string_view what) const {
  PENSTOCK_TRY(check_limit(idle, what));
  return idle;
}

}  // namespace penstock
