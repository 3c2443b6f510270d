// Locks: ranges of a file that wait for the thread of a process, visible to all processes that open it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <penstock/phase.hpp>
#include <penstock/status.hpp>
#include <penstock/timeout.hpp>

#include "bindings/mpiio/settings.hpp"

namespace penstock::mpiio {

inline constexpr int64_t lock_span = int64_t{1} << 61;  // offsets are below; those behind it are for trials

// Local. BEGIN and END are bytes of the file. FD's locks are its own: nobody else's, not even of another descriptor of
// this process. 0, or an errno.
int lock_range(int fd, int64_t begin, int64_t end);
int unlock_range(int fd, int64_t begin, int64_t end);
// 1 if another descriptor, of any process, has a lock there; 0 if not; -1 if the file system has none.
int is_locked(int fd, int64_t begin, int64_t end);
// Waits for the locks of others.
Status wait_for_locks(int fd, int64_t begin, int64_t end, std::string_view path);

// Calls READY, which may sleep for about the seconds that it is given, until it is true.
template <typename Ready>
Status wait_until(Ready ready, std::string_view path) {
  const double start = now();
  const bool limited = !run_settings().waits && timeout() > 0;
  for (double pause = 50e-6; !ready(pause); pause = std::min(2 * pause, 2e-3))
    if (limited && now() - start > timeout())
      return {Code::timeout,
              fmt::format("'{}': what is in the background was not written within {:g} s", path, timeout())};
  return {};
}

}  // namespace penstock::mpiio
