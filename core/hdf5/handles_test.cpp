// Tests of handles: the codes for errors of libhdf5.
#include "core/hdf5/handles.hpp"

#include <gtest/gtest.h>

namespace penstock::hdf5 {
namespace {

Status error_with(const char* text) {
  const QuietErrors quiet;
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, H5E_WRITEERROR, "%s", text);
  return library_error(Code::io, "writing 'a'");
}

TEST(LibraryError, HasTheLibrarysWords) {
  const Status status = error_with("file write failed");
  EXPECT_EQ(status.code(), Code::io);
  EXPECT_EQ(status.message(), "writing 'a': file write failed");
}

TEST(LibraryError, KnowsAFullDiskAndAQuota) {
  for (const char* text : {"errno = 28, error message = 'No space left on device'", "Disk quota exceeded",
                           "MPI_ERR_NO_SPACE: no space left on device", "MPI_ERR_QUOTA: out of quota"})
    EXPECT_EQ(error_with(text).code(), Code::no_space) << text;
}

TEST(LibraryError, DoesNotTakeAFilesNameForIt) {
  H5Eclear2(H5E_DEFAULT);
  EXPECT_EQ(library_error(Code::io, "writing 'No space left on device.h5'").code(), Code::io);
}

}  // namespace
}  // namespace penstock::hdf5
