// Rank 0's verdict, and rank 0's words, on every rank.
#pragma once

#include <string>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock::bench {

// Collective. Every rank returns the status that rank 0 passed; for checks that only rank 0 makes.
Status from_root(const Communicator& comm, const Status& status);
// Collective. The text that rank 0 passed.
Result<std::string> from_root(const Communicator& comm, const std::string& text);

}  // namespace penstock::bench
