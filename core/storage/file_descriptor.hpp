// Opening files for storage, and messages for failed calls.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <penstock/status.hpp>

#include "core/base/file_descriptor.hpp"

namespace penstock {

// The status for errno: "CALL 'PATH': its text".
inline Status failed(std::string_view call, const std::string& path) {
  return Status::from_errno(errno, fmt::format("{} '{}'", call, path));
}

// Below 0 with errno on failure. MODE is that of a new file, less the umask.
inline FileDescriptor open_retrying(const std::string& path, int flags, mode_t mode = 0) {
  return FileDescriptor(retrying([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); }));
}

}  // namespace penstock
