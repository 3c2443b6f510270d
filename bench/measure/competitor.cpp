// Competitor: rounds of writing, syncing, reading and small files.
#include "bench/measure/competitor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/file_descriptor.hpp"

namespace penstock::bench {

namespace {

constexpr int64_t request_bytes = 1 << 20;
constexpr int64_t round_bytes = 32 << 20;
constexpr int small_files = 16;

}  // namespace

Competitor::Competitor(const std::string& folder, int streams) {
  for (int stream = 0; stream < streams; ++stream)
    threads_.emplace_back(
        [this, path = fmt::format("{}/competitor.{}.{}", folder, ::getpid(), stream)] { compete(path); });
}

Competitor::~Competitor() {
  over_ = true;
  for (std::thread& thread : threads_) thread.join();
}

// Failures, for example on a full disk, are ignored: they only reduce the load.
void Competitor::compete(const std::string& path) {
  std::vector<std::byte> data(request_bytes, std::byte{0x5a});
  while (!over_) {
    const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    for (int64_t at = 0; at < round_bytes && !over_; at += request_bytes)
      if (::pwrite(file.get(), data.data(), data.size(), at) == request_bytes) bytes_ += request_bytes;
    if (!over_) (void)::fdatasync(file.get());
    (void)::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
    for (int64_t at = 0; at < round_bytes && !over_; at += request_bytes)
      if (::pread(file.get(), data.data(), data.size(), at) <= 0) break;
    for (int number = 0; number < small_files && !over_; ++number) {
      const std::string small = fmt::format("{}.{}", path, number);
      const FileDescriptor created(::open(small.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
      (void)::unlink(small.c_str());
    }
    (void)::unlink(path.c_str());
  }
}

}  // namespace penstock::bench
