// Tests of reserve: finds holes in files; errors are those of the file system.
#include "core/engine/reserve.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include <gtest/gtest.h>

namespace penstock {
namespace {

constexpr int64_t piece = 64 << 10;

class Holes : public testing::Test {
 protected:
  Holes() : path_(std::filesystem::temp_directory_path() / ("penstock-holes-" + std::to_string(::getpid()))) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    EXPECT_EQ(::ftruncate(file_, 3 * piece), 0);
  }
  ~Holes() override {
    ::close(file_);
    std::filesystem::remove(path_);
  }
  void write_piece(int64_t number) {
    static constexpr std::array<char, piece> bytes{'x'};
    EXPECT_EQ(::pwrite(file_, bytes.data(), bytes.size(), number * piece), piece);
    EXPECT_EQ(::fsync(file_), 0);
  }

  std::string path_;
  int file_;
};

TEST_F(Holes, ThereAreNoneInWhatWasWritten) {
  for (int64_t number = 0; number < 3; ++number) write_piece(number);
  EXPECT_EQ(first_hole(path_, 0, 3 * piece), -1);
}

TEST_F(Holes, TheFirstIsFound) {
  write_piece(0);
  write_piece(2);
  if (first_hole(path_, 0, 3 * piece) == -1) GTEST_SKIP() << "the file system of " << path_ << " tells of no holes";
  EXPECT_EQ(first_hole(path_, 0, 3 * piece), piece);
  EXPECT_EQ(first_hole(path_, piece + 5000, 3 * piece), piece + 5000);
  EXPECT_EQ(first_hole(path_, 0, piece), -1);
  EXPECT_EQ(first_hole(path_, 2 * piece, 3 * piece), -1);
}

TEST_F(Holes, ReservedSpaceIsAHole) {
  ASSERT_TRUE(reserve(path_, 3 * piece).ok());
  ASSERT_EQ(::fsync(file_), 0);
  if (first_hole(path_, 0, 3 * piece) == -1) GTEST_SKIP() << "the file system of " << path_ << " tells of no holes";
  EXPECT_EQ(first_hole(path_, 0, 3 * piece), 0);
}

TEST(Creation, TheFileSystemsReasonIsBetterThanTheLibrarys) {
  const std::string folder = std::filesystem::temp_directory_path() / ("penstock-none-" + std::to_string(::getpid()));
  const Status library(Code::denied, "the library's words");
  EXPECT_EQ(creation_error(folder + "/file", library).code(), Code::not_found);
  EXPECT_TRUE(creation_error(folder + "/file", Status()).ok());
}

TEST_F(Holes, WhereTheFileSystemHasNoObjectionTheLibraryIsRight) {
  const Status library(Code::denied, "the library's words");
  EXPECT_EQ(creation_error(path_, library).message(), "the library's words");
}

TEST_F(Holes, WhatIsNotThereHasNone) { EXPECT_EQ(first_hole(path_ + ".none", 0, 10), -1); }

}  // namespace
}  // namespace penstock
