// Sharing: sends rank 0's result, and compares arguments of all ranks.
#include "core/container/share.hpp"

#include <fmt/format.h>

#include "core/comm/share.hpp"

namespace penstock::container {

Status same_arguments(const Communicator& comm, std::string_view path, std::string_view options) {
  Encoder mine;
  mine.text(path);
  mine.text(options);
  return agree_same(comm, mine.take(), [&](std::span<const std::byte> of_rank_0) -> Status {
    Decoder in(of_rank_0);
    const std::string path_0 = in.text(), options_0 = in.text();
    return {
        Code::mismatch,
        fmt::format("this rank opens '{}' with options '{}', rank 0 '{}' with '{}': all ranks must ask for the same",
                    path, options, path_0, options_0)};
  });
}

}  // namespace penstock::container
