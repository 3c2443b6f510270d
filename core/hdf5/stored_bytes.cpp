// Stored bytes: read through the descriptor that the library has open, so that both see the same file.
#include "core/hdf5/stored_bytes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/file_descriptor.hpp"

namespace penstock::hdf5 {

uint64_t number(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(bytes[i]);
  return value;
}

Result<StoredBytes> StoredBytes::of(hid_t file) {
  const Properties creation(H5Fget_create_plist(file));
  StoredBytes stored;
  hsize_t user_block = 0;
  void* handle = nullptr;
  if (!creation.ok() || H5Pget_userblock(creation, &user_block) < 0 ||
      H5Pget_sizes(creation, &stored.address_bytes, &stored.length_bytes) < 0 ||
      H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 || handle == nullptr)
    return library_error(Code::internal, "asking for the descriptor of an HDF5 file");
  stored.fd = *static_cast<const int*>(handle);
  struct stat info{};
  if (::fstat(stored.fd, &info) != 0) return Status::from_errno(errno, "fstat of an HDF5 file");
  const auto size = static_cast<uint64_t>(info.st_size);
  if (std::max(stored.address_bytes, stored.length_bytes) > 8)
    return Status(Code::unsupported, "its addresses have more than 8 bytes");
  if (user_block > size) return Status(Code::damaged, "its user block is longer than the file");
  stored.base = user_block;
  stored.end = size - user_block;
  return stored;
}

Result<std::vector<std::byte>> StoredBytes::read(uint64_t address, uint64_t count) const {
  if (!holds(address, count)) return Status(Code::damaged, "it lies beyond the end of the file");
  std::vector<std::byte> bytes(count);
  for (size_t done = 0; done < bytes.size();) {
    const auto at = static_cast<off_t>(base + address + done);
    const ssize_t n = retrying([&] { return ::pread(fd, bytes.data() + done, bytes.size() - done, at); });
    if (n < 0) return Status::from_errno(errno, "reading an HDF5 file");
    if (n == 0) return Status(Code::damaged, "the file became shorter while it was read");
    done += static_cast<size_t>(n);
  }
  return bytes;
}

Result<std::vector<std::byte>> StoredBytes::read_some(uint64_t address, uint64_t count) const {
  return read(address, address < end ? std::min(count, end - address) : count);
}

}  // namespace penstock::hdf5
