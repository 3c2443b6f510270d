// Direct files: O_DIRECT for whole aligned blocks, a bounce buffer for memory that is unaligned or on small pages.
#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/base/copy.hpp"
#include "core/base/units.hpp"
#include "core/storage/aligned.hpp"
#include "core/storage/buffered.hpp"

namespace penstock {
namespace {

constexpr int64_t bounce_bytes = 4 << 20;
constexpr int64_t min_direct_read = 1 << 20;

// Whole aligned blocks use the O_DIRECT descriptor, unaligned ends a buffered one. They never share a page, so the
// kernel keeps both coherent on one node.
class DirectFile : public BufferedFile {
 public:
  DirectFile(std::string path, FileDescriptor buffered, FileDescriptor direct, IoMode mode)
      : BufferedFile(std::move(path), std::move(buffered), mode.queue_depth),
        direct_(std::move(direct)),
        queue_depth_(mode.queue_depth),
        looks_first_(mode.io == Io::automatic) {}

  Status write(int64_t offset, std::span<const std::byte> bytes) override {
    return by_parts(offset, static_cast<int64_t>(bytes.size()), [&](int64_t at, int64_t length, bool aligned) {
      const auto piece = bytes.subspan(static_cast<size_t>(at - offset), static_cast<size_t>(length));
      if (!aligned) return write_all(fd_.get(), at, piece);
      if (goes_directly(piece)) return write_blocks(at, writable(piece));
      const Status status = bounced(length, [&](int64_t from, std::span<std::byte> bounce) {
        std::memcpy(bounce.data(), piece.data() + from, bounce.size());
        return write_blocks(at + from, bounce);
      });
      return status.code() == Code::memory && is_aligned(piece) ? write_blocks(at, writable(piece)) : status;
    });
  }

  Status read(int64_t offset, std::span<std::byte> bytes) override {
    if (looks_first_ && is_cached(offset, static_cast<int64_t>(bytes.size()))) return BufferedFile::read(offset, bytes);
    return by_parts(offset, static_cast<int64_t>(bytes.size()), [&](int64_t at, int64_t length, bool aligned) {
      const auto piece = bytes.subspan(static_cast<size_t>(at - offset), static_cast<size_t>(length));
      if (!aligned) return read_all(fd_.get(), at, piece);
      if (goes_directly(piece)) return read_blocks(at, piece);
      const Status status = bounced(length, [&](int64_t from, std::span<std::byte> bounce) {
        PENSTOCK_TRY(read_blocks(at + from, bounce));
        copy_bytes(piece.data() + from, bounce.data(), bounce.size());
        return Status();
      });
      return status.code() == Code::memory && is_aligned(piece) ? read_blocks(at, piece) : status;
    });
  }

  Status close() override {
    const bool closed = direct_.get() < 0 || ::close(direct_.release()) == 0;
    Status status = closed ? Status() : failed("closing", path_);
    Status rest = BufferedFile::close();
    return status.ok() ? rest : status;
  }

 private:
  // Through a buffer, requests of one buffer only would be on their way at once.
  bool goes_directly(std::span<const std::byte> memory) const {
    return suits_direct(memory) || (queue_depth_ > 1 && is_aligned(memory));
  }

  Status write_blocks(int64_t offset, std::span<std::byte> bytes) {
    return queue_.move({true, direct_.get(), offset, bytes},
                       [this](int64_t from, std::span<std::byte> rest) { return write_direct(from, rest); });
  }

  Status read_blocks(int64_t offset, std::span<std::byte> bytes) {
    return queue_.move({false, direct_.get(), offset, bytes},
                       [this](int64_t from, std::span<std::byte> rest) { return read_all(direct_.get(), from, rest); });
  }

  // A short direct write may stop at an unaligned offset; the rest then uses the buffered descriptor.
  Status write_direct(int64_t offset, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const bool aligned = offset % direct_alignment == 0 && is_aligned(bytes) &&
                           static_cast<int64_t>(bytes.size()) % direct_alignment == 0;
      if (!aligned) return write_all(fd_.get(), offset, bytes);
      PENSTOCK_ASSIGN(const int64_t n, write_some(direct_.get(), offset, bytes));
      bytes = bytes.subspan(static_cast<size_t>(n));
      offset += n;
    }
    return {};
  }

  template <typename Move>
  static Status by_parts(int64_t offset, int64_t length, Move move) {
    const int64_t end = offset + length;
    const int64_t first = std::min(end, round_up(offset, direct_alignment));
    const int64_t last = std::max(first, end / direct_alignment * direct_alignment);
    if (first > offset) PENSTOCK_TRY(move(offset, first - offset, false));
    if (last > first) PENSTOCK_TRY(move(first, last - first, true));
    if (end > last) PENSTOCK_TRY(move(last, end - last, false));
    return {};
  }

  template <typename Move>
  static Status bounced(int64_t length, Move move) {
    const int64_t bytes = length < huge_pages_matter ? length : bounce_bytes;
    const AlignedMemory bounce = aligned_memory(bytes);
    if (!bounce) return {Code::memory, fmt::format("no memory for a bounce buffer of {} bytes", bytes)};
    for (int64_t from = 0; from < length; from += bounce_bytes)
      PENSTOCK_TRY(move(from, std::span(bounce.get(), static_cast<size_t>(std::min(bounce_bytes, length - from)))));
    return {};
  }

  // Whether to read from the page cache, judged by the first, middle and last byte. False if one of them is known to be
  // absent: the kernel's read-ahead would then be slower than one large read.
  bool is_cached(int64_t offset, int64_t length) const {
    if (length < min_direct_read) return true;
    for (const int64_t at : {offset, offset + length / 2, offset + length - 1}) {
      char byte = 0;
      const iovec place{&byte, 1};
      if (::preadv2(fd_.get(), &place, 1, at, RWF_NOWAIT) < 0 && errno == EAGAIN) return false;
    }
    return true;
  }

  FileDescriptor direct_;
  int64_t queue_depth_;
  bool looks_first_;
};

}  // namespace

Result<StorageFilePtr> direct_file(const std::string& path, FileDescriptor fd, IoMode mode, bool writable) {
  FileDescriptor direct = open_retrying(path, (writable ? O_RDWR : O_RDONLY) | O_DIRECT);
  if (direct.get() < 0 && errno == EINVAL && mode.io == Io::automatic)
    return StorageFilePtr(std::make_unique<BufferedFile>(path, std::move(fd), mode.queue_depth));
  if (direct.get() < 0 && errno == EINVAL)
    return Status(Code::unsupported, fmt::format("'{}' is on a file system without O_DIRECT: use io=buffered", path));
  if (direct.get() < 0) return failed("opening", path);
  return StorageFilePtr(std::make_unique<DirectFile>(path, std::move(fd), std::move(direct), mode));
}

}  // namespace penstock
