// Stream: the public interface of writers and readers.
#include <penstock/stream.hpp>

#include <fmt/format.h>

#include "core/comm/share.hpp"
#include "core/container/state.hpp"

namespace penstock {

Status container::same_arguments(const Communicator& comm, std::string_view path, std::string_view options) {
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

Stream::Stream(std::unique_ptr<State> state) : state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Result<Stream> Stream::create(const Communicator& comm, std::string path, std::string_view options) {
  PENSTOCK_ASSIGN(auto state, container::make_writer(comm, path, options));
  return Stream(std::move(state));
}

Result<Stream> Stream::open(const Communicator& comm, std::string path) {
  PENSTOCK_ASSIGN(auto state, container::make_reader(comm, path));
  return Stream(std::move(state));
}

Status Stream::write(std::span<const std::byte> bytes) { return state_->write(bytes); }
Result<int64_t> Stream::read(int64_t rank, int64_t offset, std::span<std::byte> into) {
  return state_->read(rank, offset, into);
}
int64_t Stream::count() const { return state_->count(); }
Result<int64_t> Stream::bytes(int64_t rank) { return state_->bytes(rank); }
Status Stream::close() { return state_->close(); }
void Stream::remember_failure(const Status& status) { state_->remember_failure(status); }

}  // namespace penstock
