// Sharing: steps that creating and opening a container have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock::container {

// Collective. Code::mismatch if a rank passes another PATH or other OPTIONS than rank 0.
Status same_arguments(const Communicator& comm, std::string_view path, std::string_view options);
// Collective. Returns STATUS and BYTES of rank 0 on every rank.
Result<std::vector<std::byte>> from_rank_0(const Communicator& comm, const Status& status,
                                           std::vector<std::byte> bytes);

}  // namespace penstock::container
