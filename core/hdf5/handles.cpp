// Handles: errors inside libhdf5, and their messages.
#include "core/hdf5/handles.hpp"

#include <fmt/format.h>

#include "core/hdf5/library.hpp"

namespace penstock::hdf5 {

QuietErrors::QuietErrors() {
  stack_ = H5Eget_current_stack();
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() {
  H5Eset_auto2(H5E_DEFAULT, function_, data_);
  if (stack_ >= 0) H5Eset_current_stack(stack_);  // closes it too
}

namespace {

// HDF5 passes on errors of the file system or MPI-IO only as text.
bool says_full(std::string_view text) {
  for (const char* word : {"No space left on device", "Disk quota exceeded", "MPI_ERR_NO_SPACE", "MPI_ERR_QUOTA"})
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

}  // namespace

Status library_error(Code code, std::string_view what) {
  std::string message;
  const auto innermost = [](unsigned n, const H5E_error2_t* error, void* out) -> herr_t {
    if (n == 0 && error->desc != nullptr && *error->desc != '\0')
      static_cast<std::string*>(out)->append(": ").append(error->desc);
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &message);
  H5Eclear2(H5E_DEFAULT);
  return {says_full(message) ? Code::no_space : code, std::string(what) + message};
}

bool met_unknown_version() {
  bool found = false;
  const auto look = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    if (error->desc != nullptr && std::string_view(error->desc).find("version number for") != std::string_view::npos)
      *static_cast<bool*>(out) = true;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look, &found);
  return found;
}

// The library itself is asked, since it may differ from the header.
std::string library_version() {
  const LibraryGate gate;
  unsigned major = 0, minor = 0, release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0) return "";
  return fmt::format("{}.{}.{}", major, minor, release);
}

Status library_ready() {
  unsigned major = 0, minor = 0, release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0) return {Code::unsupported, "libhdf5 could not be initialised"};
  if (major == H5_VERS_MAJOR && minor == H5_VERS_MINOR) return {};
  return {Code::unsupported, fmt::format("penstock was compiled for HDF5 {}.{}.{}, but HDF5 {}.{}.{} is loaded",
                                         H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE, major, minor, release)};
}

Result<Properties> file_access(bool named) {
  Properties access(H5Pcreate(H5P_FILE_ACCESS));
  // With its default driver the library needs the real path behind a link, and a file without a name has none; with
  // stdio it opens the given path.
  if (!access.ok() || (named ? H5Pset_fapl_sec2(access) : H5Pset_fapl_stdio(access)) < 0)
    return library_error(Code::internal, "setting up access to an HDF5 file");
#if H5_VERSION_GE(1, 10, 7)
  // Penstock's commit protocol makes locks unnecessary; on network file systems they may fail or hang.
  if (H5Pset_file_locking(access, false, true) < 0) return library_error(Code::internal, "turning off file locking");
#endif
  return access;
}

}  // namespace penstock::hdf5
