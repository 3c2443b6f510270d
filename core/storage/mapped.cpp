// Mapped files: stores and loads instead of system calls.
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <utility>

#include "core/base/copy.hpp"
#include "core/status/status_page.hpp"
#include "core/storage/buffered.hpp"

namespace penstock {
namespace {

// The whole file is mapped. Its blocks are allocated, so that a store cannot fail on a full disk.
class MappedFile : public BufferedFile {
 public:
  MappedFile(std::string path, FileDescriptor fd, std::byte* base, int64_t bytes)
      : BufferedFile(std::move(path), std::move(fd), 1), base_(base), bytes_(bytes) {}
  ~MappedFile() override { unmap(); }

  Status write(int64_t offset, std::span<const std::byte> bytes) override {
    PENSTOCK_TRY(inside(offset, bytes.size()));
    if (!bytes.empty()) std::memcpy(base_ + offset, bytes.data(), bytes.size());
    count_written(std::ssize(bytes));
    return {};
  }
  Status read(int64_t offset, std::span<std::byte> bytes) override {
    PENSTOCK_TRY(inside(offset, bytes.size()));
    copy_bytes(bytes.data(), base_ + offset, bytes.size());
    count_read(std::ssize(bytes));
    return {};
  }
  Status close() override {
    unmap();
    return BufferedFile::close();
  }

 private:
  Status inside(int64_t offset, size_t length) const {
    if (offset >= 0 && offset <= bytes_ && static_cast<int64_t>(length) <= bytes_ - offset) return {};
    return {Code::damaged, fmt::format("'{}' has {} bytes, {} are wanted at offset {}", path_, bytes_, length, offset)};
  }
  void unmap() {
    if (base_) ::munmap(std::exchange(base_, nullptr), static_cast<size_t>(bytes_));
  }

  std::byte* base_;
  int64_t bytes_;
};

}  // namespace

Result<StorageFilePtr> mapped_file(const std::string& path, FileDescriptor fd, bool writable) {
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return failed("asking the size of", path);
  void* base = nullptr;
  if (info.st_size > 0) {
    const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    base = ::mmap(nullptr, static_cast<size_t>(info.st_size), protection, MAP_SHARED, fd.get(), 0);
    if (base == MAP_FAILED) return failed("mapping", path);
  }
  return StorageFilePtr(std::make_unique<MappedFile>(path, std::move(fd), static_cast<std::byte*>(base), info.st_size));
}

}  // namespace penstock
