// Shared status: sends rank 0's status or text to every rank.
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

Result<std::string> from_root(const Communicator& comm, const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  std::vector<std::byte> bytes(begin, begin + (comm->rank() == 0 ? text.size() : 0));
  PENSTOCK_TRY(comm->broadcast(bytes, 0));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace penstock::bench
