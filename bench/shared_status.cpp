// Shared status: sends rank 0's status or text to every rank.
#include "bench/shared_status.hpp"

#include "core/comm/share.hpp"

namespace penstock::bench {

Status from_root(const Communicator& comm, const Status& status) {
  return from_rank_0(comm, [&](Encoder&) { return status; }).status();
}

Result<std::string> from_root(const Communicator& comm, const std::string& text) {
  const auto tell = [&](Encoder& out) {
    out.text(text);
    return Status();
  };
  PENSTOCK_ASSIGN(const auto told, from_rank_0(comm, tell));
  return Decoder(told).text();
}

}  // namespace penstock::bench
