// Sharing: steps that creating and opening a container have in common.
#pragma once

#include <string_view>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock::container {

// Collective. Code::mismatch if a rank passes another PATH or other OPTIONS than rank 0.
Status same_arguments(const Communicator& comm, std::string_view path, std::string_view options);

}  // namespace penstock::container
