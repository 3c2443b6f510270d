// Open: distinguishes the reasons why a file is not HDF5, before the library is called.
#include <fmt/format.h>

#include "core/format/hdf5/read.hpp"
#include "core/format/regular_file.hpp"

namespace penstock::hdf5 {
namespace {

// The size that the superblock at the start of PATH gives its file; 0 if it gives none.
int64_t stated_bytes(const std::string& path) {
  const auto head = read_regular_file(path, 96);
  if (!head.ok() || head->size() < 12) return 0;
  const auto byte = [&](size_t at) { return static_cast<unsigned char>((*head)[at]); };
  const bool old = byte(8) < 2;
  const size_t width = byte(old ? 13 : 9), at = (byte(8) == 0 ? 24 : old ? 28 : 12) + 2 * width;
  if (byte(8) > 3 || width > 8 || at + width > head->size()) return 0;
  const uint64_t end = number(std::as_bytes(std::span(*head)), at, width);
  return end > static_cast<uint64_t>(INT64_MAX) ? 0 : static_cast<int64_t>(end);
}

// Why the library, which SAID something of it, does not open PATH.
Status not_opened(const std::string& path, int64_t file_bytes, const std::string& said) {
  if (said.find("already open for write") != std::string::npos)
    return {Code::damaged, "'" + path + "' is marked as open for writing: a program is still writing it, or was " +
                               "killed; if it was killed, 'h5clear -s' removes the mark"};
  const int64_t stated = stated_bytes(path);
  if (stated > file_bytes)
    return {Code::damaged, fmt::format("'{}' is a truncated HDF5 file: it has {} of {} bytes, so it was not completely "
                                       "written or copied: copy it again, or use an earlier file (HDF5{})",
                                       path, file_bytes, stated, said)};
  return {Code::damaged,
          fmt::format("'{}' is a damaged or truncated HDF5 file of {} bytes: copy it again, or use an earlier file "
                      "(HDF5{})",
                      path, file_bytes, said)};
}

}  // namespace

Result<File> open_file(const std::string& path) {
  PENSTOCK_ASSIGN(const int64_t file_bytes, regular_file_bytes(path));
  PENSTOCK_ASSIGN(const std::string head, read_regular_file(path, std::ssize(signature)));
  // After a user block the signature comes later; the library finds it.
  if (head != signature && (file_bytes < 520 || H5Fis_hdf5(path.c_str()) <= 0))
    return Status(Code::damaged, "'" + path + "' is not an HDF5 file: it has " + std::to_string(file_bytes) +
                                     " bytes and no HDF5 signature");
  PENSTOCK_ASSIGN(const Properties access, file_access(true));
  File file(H5Fopen(path.c_str(), open_read_only, access));
  if (!file.ok()) return not_opened(path, file_bytes, library_error(Code::damaged, "").message());
  return file;
}

}  // namespace penstock::hdf5
