// Sharing: rank 0 tells all ranks, all ranks tell each other, and whether all say the same.
#include "core/comm/share.hpp"

#include <algorithm>

#include "core/base/crc64.hpp"

namespace penstock {

Result<std::vector<std::byte>> from_rank_0(const Communicator& comm, const std::function<Status(Encoder&)>& tell) {
  std::vector<std::byte> message;
  if (comm->rank() == 0) {
    Encoder told;
    const Status status = guarded([&] { return tell(told); });
    Encoder out;
    out.value(status.code());
    out.text(status.message());
    out.list(std::span<const std::byte>(told.take()));
    message = out.take();
  }
  PENSTOCK_TRY(comm->broadcast(message, 0));
  Decoder in(message);
  const auto code = in.value<Code>();
  std::string why = in.text();
  if (code != Code::ok) return Status(code, std::move(why));
  auto bytes = in.list<std::byte>();
  if (!in.ok()) return Status(Code::internal, "a message from rank 0 cannot be decoded");
  return bytes;
}

Result<std::vector<std::byte>> from_all_ranks(const Communicator& comm, std::span<const std::byte> own) {
  PENSTOCK_ASSIGN(const auto of_ranks, comm->gather(own, 0));
  std::vector<std::byte> all;
  for (const auto& one : of_ranks) all.insert(all.end(), one.begin(), one.end());
  PENSTOCK_TRY(comm->broadcast(all, 0));
  return all;
}

Result<bool> same_on_all_ranks(const Communicator& comm, std::span<const std::byte> bytes) {
  const auto sum = static_cast<int64_t>(crc64(bytes) >> 2);
  int64_t bounds[2] = {sum, -sum};
  PENSTOCK_TRY(comm->all_reduce_max(bounds));
  return bounds[0] == -bounds[1];
}

Status agree_same(const Communicator& comm, std::span<const std::byte> bytes,
                  const std::function<Status(std::span<const std::byte>)>& differ) {
  PENSTOCK_ASSIGN(const bool same, same_on_all_ranks(comm, bytes));
  if (same) return {};
  std::vector<std::byte> theirs(bytes.begin(), bytes.end());
  PENSTOCK_TRY(comm->broadcast(theirs, 0));
  return agree(comm, std::ranges::equal(theirs, bytes) ? Status() : differ(theirs));
}

}  // namespace penstock
