// The C ABI of streams.
#include <fmt/format.h>
#include <penstock/stream.hpp>

#include "bindings/c/border.hpp"

struct penstock_stream {
  penstock::Stream stream;
};

namespace {

using penstock::Code;
using penstock::Status;
using penstock::Stream;
using penstock::c::border;
using penstock::c::make_with;
using penstock::c::null;
using penstock::c::or_empty;

Status check_memory(const void* memory, int64_t bytes, const char* what) {
  if (bytes < 0) return {Code::invalid, fmt::format("{} bytes: the number cannot be negative", bytes)};
  if (memory == nullptr && bytes > 0) return null(what);
  return {};
}

}  // namespace

extern "C" {

penstock_status penstock_stream_create(penstock_comm comm, const char* path, const char* options,
                                       penstock_stream** stream) {
  return make_with(comm, path, stream, "stream", [&](const penstock::Communicator& ranks, const char* where) {
    return Stream::create(ranks, where, or_empty(options));
  });
}

penstock_status penstock_stream_open(penstock_comm comm, const char* path, penstock_stream** stream) {
  return make_with(comm, path, stream, "stream",
                   [](const penstock::Communicator& ranks, const char* where) { return Stream::open(ranks, where); });
}

penstock_status penstock_stream_write(penstock_stream* stream, const void* data, int64_t bytes) {
  return border([&]() -> Status {
    if (stream == nullptr) return null("stream");
    if (const Status status = check_memory(data, bytes, "data"); !status.ok()) {
      stream->stream.remember_failure(status);
      return status;
    }
    return stream->stream.write({static_cast<const std::byte*>(data), static_cast<size_t>(bytes)});
  });
}

penstock_status penstock_stream_read(penstock_stream* stream, int64_t rank, int64_t offset, void* buffer, int64_t bytes,
                                     int64_t* got) {
  return border([&]() -> Status {
    if (got != nullptr) *got = 0;
    if (stream == nullptr) return null("stream");
    if (got == nullptr) return null("got");
    PENSTOCK_TRY(check_memory(buffer, bytes, "buffer"));
    const std::span into(static_cast<std::byte*>(buffer), static_cast<size_t>(bytes));
    PENSTOCK_ASSIGN(*got, stream->stream.read(rank, offset, into));
    return {};
  });
}

int64_t penstock_streams(const penstock_stream* stream) { return stream == nullptr ? 0 : stream->stream.count(); }

penstock_status penstock_stream_bytes(penstock_stream* stream, int64_t rank, int64_t* bytes) {
  return border([&]() -> Status {
    if (stream == nullptr || bytes == nullptr) return null("stream or bytes");
    PENSTOCK_ASSIGN(*bytes, stream->stream.bytes(rank));
    return {};
  });
}

penstock_status penstock_stream_close(penstock_stream* stream) {
  return border([&]() -> Status {
    if (stream == nullptr) return null("stream");
    const std::unique_ptr<penstock_stream> owned(stream);
    return owned->stream.close();
  });
}

void penstock_stream_abandon(penstock_stream* stream) { delete stream; }

}  // extern "C"
