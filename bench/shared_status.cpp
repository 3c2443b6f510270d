// Rank 0's verdict on every rank.
#include "bench/shared_status.hpp"

#include "core/base/encode.hpp"

namespace penstock::bench {

Status from_root(const Communicator& comm, const Status& status) {
  std::vector<std::byte> bytes;
  if (comm->rank() == 0) {
    Encoder encoder;
    encoder.value(static_cast<int>(status.code()));
    encoder.text(status.message());
    bytes = encoder.take();
  }
  PENSTOCK_TRY(comm->broadcast(bytes, 0));
  Decoder decoder(bytes);
  const auto code = static_cast<Code>(decoder.value<int>());
  return Status(code, decoder.text());
}

}  // namespace penstock::bench
