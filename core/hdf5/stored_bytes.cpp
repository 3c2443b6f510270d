// Stored bytes: read through the descriptor that the library has open, so that both see the same file.
#include "core/hdf5/stored_bytes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "core/base/file_descriptor.hpp"

namespace penstock::hdf5 {

uint64_t number(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(bytes[i]);
  return value;
}

void put_number(uint64_t value, std::span<std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i));
}

// Bob Jenkins' lookup3.
uint32_t metadata_checksum(std::span<const std::byte> bytes) {
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(bytes.size()), b = a, c = a;
  const auto add = [&](std::span<const std::byte> words) {
    std::byte padded[12] = {};
    std::ranges::copy(words, padded);
    a += static_cast<uint32_t>(number(padded, 0, 4));
    b += static_cast<uint32_t>(number(padded, 4, 4));
    c += static_cast<uint32_t>(number(padded, 8, 4));
  };
  const auto mix = [](uint32_t& x, uint32_t& y, uint32_t z, int bits) {
    x = (x - y) ^ std::rotl(y, bits);
    y += z;
  };
  for (; bytes.size() > 12; bytes = bytes.subspan(12)) {
    add(bytes.first(12));
    mix(a, c, b, 4);
    mix(b, a, c, 6);
    mix(c, b, a, 8);
    mix(a, c, b, 16);
    mix(b, a, c, 19);
    mix(c, b, a, 4);
  }
  if (bytes.empty()) return c;
  add(bytes);
  const auto finish = [](uint32_t& x, uint32_t y, int bits) { x = (x ^ y) - std::rotl(y, bits); };
  finish(c, b, 14);
  finish(a, c, 11);
  finish(b, a, 25);
  finish(c, b, 16);
  finish(a, c, 4);
  finish(b, a, 14);
  finish(c, b, 24);
  return c;
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
  const ssize_t n = read_at(fd, bytes, static_cast<int64_t>(base + address));
  if (n < 0) return Status::from_errno(errno, "reading an HDF5 file");
  if (n < std::ssize(bytes)) return Status(Code::damaged, "the file became shorter while it was read");
  return bytes;
}

Result<std::vector<std::byte>> StoredBytes::read_some(uint64_t address, uint64_t count) const {
  return read(address, address < end ? std::min(count, end - address) : count);
}

}  // namespace penstock::hdf5
