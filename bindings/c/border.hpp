// Border: shared by the sources of the C ABI: converts results and exceptions to statuses and the thread's message.
#pragma once

#include <penstock.h>

#include <new>
#include <string>
#include <utility>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

#include "core/base/guarded.hpp"

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
    return leave(guarded(body));
  } catch (const std::bad_alloc&) {
    last_message() = "no memory";  // so short that it needs none
    return PENSTOCK_MEMORY;
  } catch (...) {
    return PENSTOCK_INTERNAL;
  }
}

inline const char* or_empty(const char* text) { return text == nullptr ? "" : text; }

// Collective. Stores at MADE, which errors call WHAT, a new object around what MAKE returns for the ranks of COMM. A
// NULL on one rank must not leave the other ranks waiting: it goes on with an empty path, which never opens; the ranks
// compare their paths.
template <typename Made, typename Make>
penstock_status make_with(penstock_comm comm, const char* path, Made** made, const char* what, Make make) {
  return border([&]() -> Status {
    if (made != nullptr) *made = nullptr;
    PENSTOCK_ASSIGN(const auto ranks, communicator(comm, path));
    auto result = make(ranks, made == nullptr ? "" : or_empty(path));
    if (made == nullptr) return null(what);
    PENSTOCK_TRY(result.status());
    *made = new Made{*std::move(result)};
    return {};
  });
}

}  // namespace penstock::c
