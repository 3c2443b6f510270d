// Border: shared by the sources of the C ABI: converts results and exceptions to statuses and the thread's message.
#pragma once

#include <penstock.h>

#include <exception>
#include <new>
#include <string>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock::c {

// The text of this thread's last error.
std::string& last_message();
penstock_status leave(const Status& status);
// Returns the error "WHAT is NULL".
Status null(const char* what);
// PATH, which may be NULL: the file that it is for.
Result<Communicator> communicator(penstock_comm comm, const char* path);

// Runs BODY, which returns a Status, and catches all exceptions.
template <typename Body>
penstock_status border(Body body) noexcept {
  try {
    return leave(body());
  } catch (const std::bad_alloc&) {
    try {
      return leave({Code::memory, "no memory"});
    } catch (...) {
      return PENSTOCK_MEMORY;
    }
  } catch (const std::exception& error) {
    try {
      return leave({Code::internal, error.what()});
    } catch (...) {
      return PENSTOCK_INTERNAL;
    }
  } catch (...) {
    return PENSTOCK_INTERNAL;
  }
}

}  // namespace penstock::c
