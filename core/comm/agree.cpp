// agree(): one status for all ranks; wait_all().
#include <fmt/format.h>
#include <penstock/communicator.hpp>

#include "core/base/encode.hpp"
#include "core/comm/patience.hpp"

namespace penstock {

Status agree(const Communicator& comm, const Status& status) {
  // The lowest rank with a cause of its own counts; ranks that only heard of a failure come after these.
  if (status.code() == Code::timeout) comm->call().timed_out = true;
  const int64_t size = comm->size();
  int64_t key = comm->rank();
  if (status.ok()) key = 2 * size;
  if (status.code() == Code::elsewhere) key += size;
  int64_t least = key;
  PENSTOCK_TRY(comm->all_reduce_min(std::span(&least, 1)));
  if (least == 2 * size) return {};
  const int speaker = static_cast<int>(least % size);
  std::vector<std::byte> bytes;
  if (comm->rank() == speaker) {
    Encoder out;
    out.value(status.code());
    out.text(status.message());
    bytes = out.take();
  }
  PENSTOCK_TRY(comm->broadcast(bytes, speaker));
  Decoder in(bytes);
  const auto code = in.value<Code>();
  std::string message = in.text();
  if (size > 1 && !message.starts_with("rank ")) message = fmt::format("rank {}: {}", speaker, message);
  return {code, std::move(message)};
}

Status wait_all(std::span<Request> requests) {
  Status first;
  Patience patience;
  for (Request& request : requests) {
    while (true) {
      auto done = request.test();
      if (!done.ok()) {
        if (first.ok()) first = done.status();
        break;
      }
      if (*done) break;
      PENSTOCK_TRY(patience.wait(request, "messages"));
    }
    patience.moved();
  }
  return first;
}

}  // namespace penstock
