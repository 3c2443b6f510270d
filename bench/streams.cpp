// Streams: aligned transfers, one after another.
#include "bench/streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include <penstock/phase.hpp>

#include "bench/workload/numbering.hpp"
#include "core/base/file_descriptor.hpp"
#include "core/base/units.hpp"

namespace penstock::bench {

namespace {

constexpr int awake_tag = 1000;

// Calls CALL(bytes, offset) for each transfer of S, until one is short.
template <typename Call>
void transfer(Stream& s, Call call) {
  for (int64_t at = 0; at < s.bytes && s.error == 0; at += transfer_bytes) {
    const int64_t length = std::min(transfer_bytes, s.bytes - at);
    if (call(length, at) != length) s.error = errno ? errno : EIO;
  }
}

}  // namespace

StreamSet::StreamSet(const std::string& folder, int64_t all, int count, bool direct) {
  const int64_t share = round_up(all / count, direct_alignment);
  for (int i = 0; i < count; ++i) {
    const int64_t length = std::min(share, transfer_bytes);
    memory.push_back(aligned_memory(length));
    if (memory.back()) Numbering(Kind::f64, 0, 0).fill(0, {memory.back().get(), static_cast<size_t>(length)});
    streams.push_back({fmt::format("{}/stream{}", folder, i), share, direct, memory.back().get()});
  }
  bytes = share * count;
}

int StreamSet::error() const {
  for (const Stream& stream : streams)
    if (stream.error != 0) return stream.error;
  return 0;
}

void write_stream(Stream& s) {
  const int fd = ::open(s.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | (s.direct ? O_DIRECT : 0), 0600);
  if (fd < 0) {
    s.error = errno;
    return;
  }
  (void)!::fallocate(fd, 0, 0, s.bytes);  // if unsupported, the file grows during writing
  transfer(s, [&](int64_t length, int64_t at) { return ::pwrite(fd, s.memory, static_cast<size_t>(length), at); });
  if (s.error == 0 && ::fdatasync(fd) != 0) s.error = errno;
  if (::close(fd) != 0 && s.error == 0) s.error = errno;
}

void read_stream(Stream& s) {
  const FileDescriptor file(::open(s.path.c_str(), O_RDONLY | O_CLOEXEC | (s.direct ? O_DIRECT : 0)));
  if (file.get() < 0) {
    s.error = errno;
    return;
  }
  transfer(s,
           [&](int64_t length, int64_t at) { return ::pread(file.get(), s.memory, static_cast<size_t>(length), at); });
}

void drop(const Stream& s) {
  const FileDescriptor file(::open(s.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() >= 0) ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

double run_all(StreamSet& set, void (*run)(Stream&)) {
  const double start = now();
  std::vector<std::thread> threads;
  for (size_t i = 1; i < set.streams.size(); ++i) threads.emplace_back(run, std::ref(set.streams[i]));
  run(set.streams[0]);
  for (std::thread& thread : threads) thread.join();
  return now() - start;
}

Status while_others_sleep(const Communicator& comm, const std::function<void()>& work) {
  std::byte token[1] = {};
  if (comm->rank() != 0) {
    PENSTOCK_ASSIGN(Request woken, comm->receive(0, awake_tag, token));
    for (;;) {
      PENSTOCK_ASSIGN(const bool done, woken.test());
      if (done) return {};
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  work();
  std::vector<Request> requests;
  for (int rank = 1; rank < comm->size(); ++rank) {
    PENSTOCK_ASSIGN(Request sent, comm->send(rank, awake_tag, token));
    requests.push_back(std::move(sent));
  }
  return wait_all(requests);
}

}  // namespace penstock::bench
