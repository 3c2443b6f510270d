// Buffered files: repeat system calls until everything is moved.
#include "core/storage/buffered.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/base/copy.hpp"
#include "core/status/status_page.hpp"

namespace penstock {

Status BufferedFile::write(int64_t offset, std::span<const std::byte> bytes) {
  return queue_.move({true, fd_.get(), offset, writable(bytes)},
                     [this](int64_t from, std::span<std::byte> rest) { return write_all(fd_.get(), from, rest); });
}

Status BufferedFile::read(int64_t offset, std::span<std::byte> bytes) {
  return queue_.move({false, fd_.get(), offset, bytes},
                     [this](int64_t from, std::span<std::byte> rest) { return read_all(fd_.get(), from, rest); });
}

Status BufferedFile::sync() {
  return retrying([this] { return ::fdatasync(fd_.get()); }) == 0 ? Status() : failed("syncing", path_);
}

Status BufferedFile::close() {
  if (fd_.get() < 0) return {};
  return ::close(fd_.release()) == 0 ? Status() : failed("closing", path_);
}

Status BufferedFile::write_all(int fd, int64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    PENSTOCK_ASSIGN(const int64_t n, write_some(fd, offset, bytes));
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += n;
  }
  return {};
}

Result<int64_t> BufferedFile::write_some(int fd, int64_t offset, std::span<const std::byte> bytes) const {
  const int64_t n = retrying([&] { return ::pwrite(fd, bytes.data(), bytes.size(), offset); });
  if (n < 0) return failed(fmt::format("writing {} bytes at offset {} of", bytes.size(), offset), path_);
  if (n == 0) return Status(Code::io, fmt::format("writing '{}' at offset {}: no byte was taken", path_, offset));
  count_written(n);
  return n;
}

Status BufferedFile::read_all(int fd, int64_t offset, std::span<std::byte> bytes) const {
  constexpr size_t min_staged = 4 << 10;
  if (bytes.size() >= min_staged &&
      copies_slowly(reinterpret_cast<uintptr_t>(bytes.data()), static_cast<uintptr_t>(offset)))
    return read_staged(fd, offset, bytes);
  return read_flat(fd, offset, bytes);
}

// The buffer is half a page away from both the pages of the file and BYTES, modulo a page.
Status BufferedFile::read_staged(int fd, int64_t offset, std::span<std::byte> bytes) const {
  constexpr size_t page = 4096, staged = 128 << 10;
  thread_local const auto memory = std::make_unique_for_overwrite<std::byte[]>(staged + page);
  const size_t is = reinterpret_cast<uintptr_t>(memory.get()) % page;
  const size_t wanted = (static_cast<size_t>(offset) + page / 2) % page;
  std::byte* const buffer = memory.get() + (wanted + page - is) % page;
  while (!bytes.empty()) {
    const size_t size = std::min(staged, bytes.size());
    PENSTOCK_TRY(read_flat(fd, offset, {buffer, size}));
    std::memcpy(bytes.data(), buffer, size);
    bytes = bytes.subspan(size);
    offset += static_cast<int64_t>(size);
  }
  return {};
}

Status BufferedFile::read_flat(int fd, int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = retrying([&] { return ::pread(fd, bytes.data(), bytes.size(), offset); });
    if (n < 0) return failed(fmt::format("reading {} bytes at offset {} of", bytes.size(), offset), path_);
    if (n == 0)
      return {Code::damaged, fmt::format("'{}' ends at offset {}, {} bytes too early", path_, offset, bytes.size())};
    count_read(n);
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += n;
  }
  return {};
}

}  // namespace penstock
