// Tests of targets: of two jobs that publish under one name, one succeeds and the other gets an error; new files have
// the permissions of the umask.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "core/storage/refused_call.hpp"
#include "core/storage/storage.hpp"
#include "core/storage/target.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

class Target : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::current_path() / "target-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    target_ = folder_ + "/target";
    partial_ = folder_ + "/partial";
    put(partial_, "ours");
  }
  void TearDown() override { fs::remove_all(folder_); }
  static void put(const std::string& path, const std::string& words) { std::ofstream(path) << words; }
  // Like another job.
  void publish_theirs(const std::string& words = "theirs") const {
    put(folder_ + "/other", words);
    fs::rename(folder_ + "/other", target_);
  }
  static std::string content(const std::string& path) {
    std::string text;
    std::ifstream(path) >> text;
    return text;
  }
  std::optional<FileStat> now() { return *existing_file(*storage_, target_); }
  void expect_theirs(const Result<bool>& placed) {
    EXPECT_EQ(placed.status().code(), Code::exists) << placed.status().message();
    EXPECT_NE(placed.status().message().find(target_), std::string::npos) << placed.status().message();
    EXPECT_NE(placed.status().message().find(partial_), std::string::npos) << placed.status().message();
    EXPECT_EQ(content(target_), "theirs");
    EXPECT_EQ(content(partial_), "ours");
  }

  std::string folder_, target_, partial_;
  std::shared_ptr<Storage> storage_ = posix_storage();
};

// Another job acts just before a call.
class Interrupted : public CountedStorage {
 public:
  Interrupted() : CountedStorage(posix_storage()) {}
  Status exchange(const std::string& a, const std::string& b) override {
    if (auto act = std::exchange(before_exchange, nullptr)) act();
    return exchanges ? CountedStorage::exchange(a, b) : Status(Code::unsupported, "no exchange here");
  }
  Status rename_new(const std::string& from, const std::string& to) override {
    if (auto act = std::exchange(before_rename_new, nullptr)) act();
    return CountedStorage::rename_new(from, to);
  }
  std::function<void()> before_exchange, before_rename_new;
  bool exchanges = true;
};

TEST_F(Target, WhatIsThereAsExpectedIsReplaced) {
  auto placed = put_in_place(*storage_, partial_, target_, now());
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  EXPECT_FALSE(*placed);
  EXPECT_EQ(content(target_), "ours");
  put(partial_, "again");
  placed = put_in_place(*storage_, partial_, target_, now());
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  EXPECT_EQ(content(target_), "again");
  EXPECT_EQ(*placed, fs::exists(partial_));
}

TEST_F(Target, AFileThatCameWhereNothingWasStays) {
  const auto before = now();
  publish_theirs();
  expect_theirs(put_in_place(*storage_, partial_, target_, before));
}

TEST_F(Target, AFileThatCameInPlaceOfTheOldStays) {
  put(target_, "old");
  const auto before = now();
  publish_theirs();
  expect_theirs(put_in_place(*storage_, partial_, target_, before));
}

TEST_F(Target, AFileThatComesAtTheLastMomentStays) {
  Interrupted storage;
  storage.before_rename_new = [&] { publish_theirs(); };
  expect_theirs(put_in_place(storage, partial_, target_, now()));
  publish_theirs("old");
  storage.before_exchange = [&] { publish_theirs(); };
  expect_theirs(put_in_place(storage, partial_, target_, now()));
}

TEST_F(Target, AnOldFileThatVanishesIsNoHindrance) {
  put(target_, "old");
  Interrupted storage;
  storage.before_exchange = [&] { fs::remove(target_); };
  EXPECT_TRUE(put_in_place(storage, partial_, target_, now()).ok());
  EXPECT_EQ(content(target_), "ours");
}

TEST_F(Target, AnEditInPlaceIsNoOtherFile) {
  put(target_, "old");
  const auto before = now();
  std::ofstream(target_, std::ios::app) << "er";
  fs::create_hard_link(target_, folder_ + "/backup");
  EXPECT_TRUE(put_in_place(*storage_, partial_, target_, before).ok());
  EXPECT_EQ(content(target_), "ours");
  EXPECT_EQ(content(folder_ + "/backup"), "older");
}

TEST_F(Target, TwoFilesOfOneProgramAreNoQuarrel) {
  const auto before = now();
  ASSERT_TRUE(put_in_place(*storage_, partial_, target_, before).ok());
  put(partial_, "second");
  const auto placed = put_in_place(*storage_, partial_, target_, before);
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  EXPECT_EQ(content(target_), "second");
}

TEST_F(Target, WithoutExchangeAnotherFileIsStillSeen) {
  Interrupted storage;
  storage.exchanges = false;
  put(target_, "old");
  const auto before = now();
  publish_theirs();
  expect_theirs(put_in_place(storage, partial_, target_, before));
  EXPECT_TRUE(put_in_place(storage, partial_, target_, now()).ok());
  EXPECT_EQ(content(target_), "ours");
  EXPECT_FALSE(fs::exists(partial_));
}

TEST_F(Target, AFileSystemThatTakesAnExchangeForARenameReplaces) {
  class Careless : public CountedStorage {
   public:
    Careless() : CountedStorage(posix_storage()) {}
    Status exchange(const std::string& a, const std::string& b) override { return rename(a, b); }
  } storage;
  put(target_, "old");
  const auto placed = put_in_place(storage, partial_, target_, now());
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  EXPECT_FALSE(*placed);
  EXPECT_EQ(content(target_), "ours");
}

// As on NFS.
TEST_F(Target, WithoutRenameNoReplaceLinksDo) {
  const bool ran = with_refused(SYS_renameat2, EINVAL, [&] {
    EXPECT_TRUE(storage_->rename_new(partial_, target_).ok());
    EXPECT_EQ(content(target_), "ours");
    EXPECT_FALSE(fs::exists(partial_));
    put(partial_, "second");
    const Status status = storage_->rename_new(partial_, target_);
    EXPECT_EQ(status.code(), Code::exists) << status.message();
    EXPECT_EQ(content(target_), "ours");
    EXPECT_EQ(content(partial_), "second");
    fs::remove(target_);
    fs::create_hard_link(partial_, target_);  // a repeated request finds its own link
    EXPECT_TRUE(storage_->rename_new(partial_, target_).ok());
    EXPECT_EQ(content(target_), "second");
    EXPECT_FALSE(fs::exists(partial_));
    fs::create_directories(folder_ + "/new");
    EXPECT_TRUE(storage_->rename_new(folder_ + "/new", folder_ + "/folder").ok());
    fs::create_directories(folder_ + "/new");
    EXPECT_EQ(storage_->rename_new(folder_ + "/new", folder_ + "/folder").code(), Code::exists);
    put(partial_, "third");
    EXPECT_TRUE(put_in_place(*storage_, partial_, target_, now()).ok());
    EXPECT_EQ(content(target_), "third");
  });
  if (!ran) GTEST_SKIP() << "this kernel takes no seccomp filter";
}

mode_t mode_of(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

class Permissions : public Target {
 protected:
  void check() {
    const std::string ours = folder_ + "/ours", own = folder_ + "/own", ordinary = folder_ + "/ordinary";
    ASSERT_TRUE(storage_->create(ours, 10, Io::buffered).ok());
    ASSERT_TRUE(storage_->create(own, 10, Io::buffered, true, Access::own).ok());
    const int fd = ::open(ordinary.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0666);
    ASSERT_GE(fd, 0);
    ::close(fd);
    EXPECT_EQ(mode_of(ours), mode_of(ordinary));
    EXPECT_EQ(mode_of(own) & 07077, 0U) << "others cannot access it";
    for (const std::string& path : {ours, own, ordinary}) fs::remove(path);
  }
};

TEST_F(Permissions, AreThoseOfTheUmask) {
  const mode_t before = ::umask(0);
  for (const mode_t mask : {0, 02, 022, 027, 077, 0177}) {
    ::umask(mask);
    check();
  }
  ::umask(before);
}

TEST_F(Permissions, AreThoseOfTheFoldersAccessList) {
  // Version 2; owner rwx, user 65534 rwx, group r-x, mask rwx, others nothing.
  constexpr uint32_t any = 0xFFFFFFFF;
  struct Entry {
    uint16_t tag, permissions;
    uint32_t id;
  } const entries[] = {{1, 7, any}, {2, 7, 65534}, {4, 5, any}, {16, 7, any}, {32, 0, any}};
  std::string list("\2\0\0\0", 4);
  list.append(reinterpret_cast<const char*>(entries), sizeof entries);
  if (::setxattr(folder_.c_str(), "system.posix_acl_default", list.data(), list.size(), 0) != 0)
    GTEST_SKIP() << "no access lists here: " << std::strerror(errno);
  check();
  EXPECT_TRUE(storage_->create(folder_ + "/shared", 1, Io::buffered).ok());
  EXPECT_EQ(mode_of(folder_ + "/shared"), 0660U);
}

TEST_F(Target, NewFilesAreNotMadeThroughLinks) {
  put(folder_ + "/victim", "whole");
  fs::create_symlink(folder_ + "/victim", folder_ + "/link");
  EXPECT_FALSE(storage_->create(folder_ + "/link", 1, Io::buffered).ok());
  fs::create_symlink(folder_ + "/absent", folder_ + "/dangling");
  EXPECT_FALSE(storage_->create(folder_ + "/dangling", 1, Io::buffered).ok());
  EXPECT_FALSE(fs::exists(folder_ + "/absent"));
  EXPECT_EQ(content(folder_ + "/victim"), "whole");
}

}  // namespace
}  // namespace penstock
