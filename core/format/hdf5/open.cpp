// Open: distinguishes the reasons why a file is not HDF5, before the library is called.
#include <cstring>

#include "core/format/hdf5/read.hpp"
#include "core/format/regular_file.hpp"

namespace penstock::hdf5 {
namespace {

constexpr char signature[] = "\x89HDF\r\n\x1a\n";

}  // namespace

Result<File> open_file(const std::string& path, int64_t& file_bytes) {
  PENSTOCK_ASSIGN(file_bytes, regular_file_bytes(path));
  PENSTOCK_ASSIGN(const std::string head, read_regular_file(path, 8));
  const bool at_start = head == std::string_view(signature, 8);
  if (!at_start) {
    // After a user block the signature comes later; the library finds it.
    if (file_bytes < 520 || H5Fis_hdf5(path.c_str()) <= 0)
      return Status(Code::damaged, "'" + path + "' is not an HDF5 file: it has " + std::to_string(file_bytes) +
                                       " bytes and no HDF5 signature");
  }
  const Properties access(H5Pcreate(H5P_FILE_ACCESS));
  if (!access.ok() || H5Pset_fapl_sec2(access) < 0)
    return library_error(Code::internal, "setting up access to an HDF5 file");
#if H5_VERSION_GE(1, 10, 7)
  if (H5Pset_file_locking(access, false, true) < 0) return library_error(Code::internal, "turning off file locking");
#endif
  File file(H5Fopen(path.c_str(), open_read_only, access));
  if (!file.ok()) {
    const Status failed = library_error(Code::damaged, "'" + path + "' is a damaged or truncated HDF5 file");
    if (failed.message().find("already open for write") == std::string::npos) return failed;
    return Status(Code::damaged, "'" + path + "' is marked as open for writing: its program still writes it, or was " +
                                     "killed; then 'h5clear -s' removes the mark");
  }
  return file;
}

}  // namespace penstock::hdf5
