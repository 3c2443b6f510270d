// Shared status: sends a status or text of rank 0 to every rank.
#pragma once

#include <string>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock::bench {

// Collective. Every rank returns the status of rank 0; for checks that only rank 0 makes.
Status from_root(const Communicator& comm, const Status& status);
// Collective. Returns the text of rank 0.
Result<std::string> from_root(const Communicator& comm, const std::string& text);

}  // namespace penstock::bench
