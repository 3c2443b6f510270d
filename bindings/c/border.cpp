// Border: the thread's message, and communicators from the caller's communicators.
#include "bindings/c/border.hpp"

#include <fmt/format.h>

#include "core/base/utf8.hpp"

#if PENSTOCK_HAVE_MPI
#include <penstock/mpi.hpp>
#endif

namespace penstock::c {

std::string& last_message() {
  thread_local std::string message;
  return message;
}

penstock_status leave(const Status& status) {
  if (!status.ok()) last_message() = printable(status.message());
  return static_cast<penstock_status>(status.code());
}

Status null(const char* what) { return {Code::invalid, fmt::format("{} is NULL", what)}; }

Result<Communicator> communicator(penstock_comm comm, [[maybe_unused]] const char* path) {
#if PENSTOCK_HAVE_MPI
  return mpi_communicator(comm, path == nullptr ? "" : path);
#else
  (void)comm;
  return serial_communicator();
#endif
}

}  // namespace penstock::c
