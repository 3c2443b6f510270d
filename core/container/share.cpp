// Sharing: sends rank 0's result, and compares arguments of all ranks.
#include "core/container/share.hpp"

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/base/encode.hpp"

namespace penstock::container {

Status same_arguments(const Communicator& comm, std::string_view path, std::string_view options) {
  Encoder out;
  out.text(path);
  out.text(options);
  auto bytes = out.take();
  const auto hash = static_cast<int64_t>(crc64(bytes) >> 2);
  int64_t bounds[2] = {hash, -hash};
  PENSTOCK_TRY(comm->all_reduce_max(bounds));
  if (bounds[0] == -bounds[1]) return {};
  PENSTOCK_TRY(comm->broadcast(bytes, 0));
  Decoder in(bytes);
  const std::string path_0 = in.text(), options_0 = in.text();
  Status alike;
  if (path_0 != path || options_0 != options)
    alike = {
        Code::mismatch,
        fmt::format("this rank opens '{}' with options '{}', rank 0 '{}' with '{}': all ranks must ask for the same",
                    path, options, path_0, options_0)};
  return agree(comm, alike);
}

Result<std::vector<std::byte>> from_rank_0(const Communicator& comm, const Status& status,
                                           std::vector<std::byte> bytes) {
  Encoder out;
  out.value(status.code());
  out.text(status.message());
  out.list(std::span<const std::byte>(bytes));
  auto message = out.take();
  PENSTOCK_TRY(comm->broadcast(message, 0));
  Decoder in(message);
  const auto code = in.value<Code>();
  std::string text = in.text();
  if (code != Code::ok) return Status(code, std::move(text));
  bytes = in.list<std::byte>();
  if (!in.ok()) return Status(Code::internal, "a message from rank 0 cannot be decoded");
  return bytes;
}

}  // namespace penstock::container
