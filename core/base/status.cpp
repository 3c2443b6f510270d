// Status: codes, their names, and the codes for errno values.
#include <penstock/status.hpp>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace penstock {

std::string_view name(Code code) {
  switch (code) {
    case Code::ok: return "ok";
    case Code::invalid: return "invalid";
    case Code::not_found: return "not found";
    case Code::exists: return "exists";
    case Code::denied: return "denied";
    case Code::no_space: return "no space";
    case Code::io: return "input/output";
    case Code::mismatch: return "mismatch";
    case Code::overlap: return "overlap";
    case Code::incomplete: return "incomplete";
    case Code::unsupported: return "unsupported";
    case Code::memory: return "memory";
    case Code::damaged: return "damaged";
    case Code::timeout: return "timeout";
    case Code::in_doubt: return "in doubt";
    case Code::elsewhere: return "elsewhere";
    case Code::internal: return "internal";
  }
  return "unknown";
}

namespace {

Code code_of(int error) {
  switch (error) {
    case 0: return Code::ok;
    case ENOENT:
    case ENOTDIR: return Code::not_found;
    case EEXIST:
    case ENOTEMPTY:
    case EISDIR: return Code::exists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::denied;
    case ENOSPC:
    case EDQUOT: return Code::no_space;
    case EOPNOTSUPP:
    case ENOSYS: return Code::unsupported;
    case ENOMEM: return Code::memory;
    case ENAMETOOLONG:
    case EINVAL: return Code::invalid;
    default: return Code::io;
  }
}

}  // namespace

Status Status::from_errno(int error, std::string_view what) {
  return {code_of(error), fmt::format("{}: {}", what, std::generic_category().message(error))};
}

Status Status::in(std::string_view context) const& {
  if (ok()) return *this;
  return {code_, fmt::format("{}: {}", context, message_)};
}

}  // namespace penstock
