// Tests of storage: each access mode moves the same bytes, errors name call and path, and the trace counts.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

#include "core/storage/aligned.hpp"
#include "core/storage/freed_later.hpp"
#include "core/storage/storage.hpp"
#include "core/storage/target.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

class StorageTest : public testing::TestWithParam<Io> {
 protected:
  void SetUp() override {
    std::string name = fs::current_path() / "storage-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return folder_ + "/" + name; }

  std::string folder_;
  std::shared_ptr<Storage> storage_ = posix_storage();
};

#define SKIP_UNSUPPORTED(result) \
  if (!(result).ok() && (result).status().code() == Code::unsupported) GTEST_SKIP() << (result).status().message()

TEST_P(StorageTest, UnalignedPiecesInAnyOrderComeBack) {
  std::mt19937_64 random(8);
  const int64_t size = 3 * 4096 * 11 + 777;
  std::vector<std::byte> expected(static_cast<size_t>(size), std::byte{0});
  auto created = storage_->create(path("f"), size, GetParam());
  SKIP_UNSUPPORTED(created);
  ASSERT_TRUE(created.ok()) << created.status().message();
  for (int i = 0; i < 300; ++i) {
    const auto offset = static_cast<int64_t>(random() % static_cast<uint64_t>(size));
    const auto length = static_cast<int64_t>(
        random() % static_cast<uint64_t>(std::min<int64_t>(size - offset, i % 3 == 0 ? 40000 : 5000) + 1));
    std::vector<std::byte> memory(static_cast<size_t>(length) + 1);
    for (auto& b : memory) b = std::byte(random());
    const auto piece = std::span(memory).subspan(static_cast<size_t>(i % 2),
                                                 static_cast<size_t>(length));  // memory is unaligned, too
    ASSERT_TRUE((*created)->write(offset, piece).ok());
    std::copy(piece.begin(), piece.end(), expected.begin() + offset);
  }
  EXPECT_TRUE((*created)->sync().ok());
  EXPECT_TRUE((*created)->close().ok());
  EXPECT_EQ(static_cast<int64_t>(fs::file_size(path("f"))), size);

  auto opened = storage_->open(path("f"), GetParam(), false);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  for (int i = 0; i < 200; ++i) {
    const auto offset = static_cast<int64_t>(random() % static_cast<uint64_t>(size));
    const auto length =
        static_cast<int64_t>(random() % static_cast<uint64_t>(std::min<int64_t>(size - offset, 30000) + 1));
    std::vector<std::byte> memory(static_cast<size_t>(length) + 2, std::byte{0xee});
    ASSERT_TRUE((*opened)->read(offset, std::span(memory).subspan(1, static_cast<size_t>(length))).ok());
    EXPECT_TRUE(std::equal(memory.begin() + 1, memory.end() - 1, expected.begin() + offset)) << offset << "+" << length;
    EXPECT_EQ(memory.front(), std::byte{0xee});
    EXPECT_EQ(memory.back(), std::byte{0xee});
  }
  std::vector<std::byte> past(10);
  EXPECT_EQ((*opened)->read(size - 5, past).code(), Code::damaged);
  EXPECT_TRUE((*opened)->close().ok());
}

TEST_P(StorageTest, AlignedBlocksFromAlignedMemory) {
  const int64_t size = 8 * direct_alignment;
  auto file = storage_->create(path("f"), size, GetParam());
  SKIP_UNSUPPORTED(file);
  ASSERT_TRUE(file.ok()) << file.status().message();
  std::unique_ptr<std::byte, void (*)(void*)> memory(
      static_cast<std::byte*>(std::aligned_alloc(direct_alignment, size)), std::free);
  for (int64_t i = 0; i < size; ++i) memory.get()[i] = std::byte(i / direct_alignment + 1);
  ASSERT_TRUE((*file)->write(0, std::span(memory.get(), size)).ok());
  std::memset(memory.get(), 0, size);
  ASSERT_TRUE((*file)->read(direct_alignment, std::span(memory.get(), 2 * direct_alignment)).ok());
  EXPECT_EQ(memory.get()[0], std::byte{2});
  EXPECT_EQ(memory.get()[2 * direct_alignment - 1], std::byte{3});
  EXPECT_TRUE((*file)->write(3, {}).ok());
  EXPECT_TRUE((*file)->close().ok());
}

TEST(Aligned, OnlyMemoryOnHugePagesSuitsLongDirectTransfers) {
  constexpr int64_t size = 6 << 20;
  const std::unique_ptr<std::byte, decltype(&std::free)> plain(
      static_cast<std::byte*>(std::aligned_alloc(direct_alignment, size)), &std::free);
  EXPECT_TRUE(suits_direct({plain.get(), direct_alignment})) << "too short to matter";
  EXPECT_FALSE(suits_direct({plain.get() + 8, direct_alignment})) << "unaligned";
  const AlignedMemory before = aligned_memory(size), after = aligned_memory(size);
  for (const AlignedMemory* memory : {&before, &after}) {
    EXPECT_TRUE(suits_direct({memory->get(), size}));
    EXPECT_TRUE(suits_direct({memory->get() + size / 2, size / 2}));
    EXPECT_FALSE(suits_direct({memory->get() + 1, size / 2}));
  }
  if (suits_direct({plain.get(), size})) GTEST_SKIP() << "this kernel has no huge pages";
  EXPECT_FALSE(suits_direct({before.get() + size / 2, size})) << "beyond its end";
  constexpr int64_t too_large_to_keep = 64 << 20;
  std::byte* const freed = aligned_memory(too_large_to_keep).get();
  EXPECT_FALSE(suits_direct({freed, size}));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which see more if it is malloc's
TEST(Aligned, FreedMemoryIsUsedAgain) {
  const auto freed = [](int64_t size) { return aligned_memory(size).get(); };
  (void)freed(32 << 20);  // what other tests have freed goes
  const std::byte* const windows = freed(14 << 20);
  const std::byte* const buffer = freed(4 << 20);
  EXPECT_EQ(freed(9 << 20), windows) << "14 MiB are not too much for 9";
  EXPECT_EQ(freed(3 << 20), buffer);
  EXPECT_NE(freed(20 << 20), windows) << "too small";
  EXPECT_FALSE(suits_direct({windows, 14 << 20})) << "20 and 14 are over 32: the older ones go";
  EXPECT_EQ(freed(4 << 20), buffer) << "20 and 4 are not";
}

TEST(Aligned, WithoutMemoryForABufferTheTransferIsDirect) {
  constexpr size_t size = 6 << 20;
  const std::string path = fs::current_path() / "no-memory-for-a-buffer";
  const std::unique_ptr<std::byte, decltype(&std::free)> plain(
      static_cast<std::byte*>(std::aligned_alloc(direct_alignment, size)), &std::free);
  if (suits_direct({plain.get(), size})) GTEST_SKIP() << "this kernel has no huge pages";
  for (size_t i = 0; i < size; ++i) plain.get()[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  const std::vector<std::byte> written(plain.get(), plain.get() + size);
  auto file = posix_storage()->create(path, size, Io::direct);
  SKIP_UNSUPPORTED(file);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{1 << 20, 1 << 20};  // less than there is already
    if (::setrlimit(RLIMIT_AS, &none) != 0) ::_exit(1);
    while (AlignedMemory kept = aligned_memory(2 << 20)) (void)kept.release();
    if (!(*file)->write(0, {plain.get(), size}).ok()) ::_exit(2);
    std::fill_n(plain.get(), size, std::byte{0});
    if (!(*file)->read(0, {plain.get(), size}).ok()) ::_exit(3);
    ::_exit(std::equal(written.begin(), written.end(), plain.get()) ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  fs::remove(path);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

// Bytes inside and outside the page cache, and a range of which half is inside.
TEST_P(StorageTest, ColdAndCachedBytesAreTheSame) {
  constexpr int64_t size = 6 << 20;
  const auto file = storage_->create(path("f"), size, GetParam());
  SKIP_UNSUPPORTED(file);
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  ASSERT_TRUE((*file)->write(0, bytes).ok());
  ASSERT_TRUE((*file)->sync().ok());
  for (const int64_t cached : {int64_t{0}, size / 2, size}) {
    const int fd = ::open(path("f").c_str(), O_RDONLY);
    ASSERT_EQ(::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    ::close(fd);
    std::vector<std::byte> some(static_cast<size_t>(cached)), all(bytes.size());
    ASSERT_TRUE((*storage_->open(path("f"), Io::buffered, false))->read(0, some).ok());
    ASSERT_TRUE((*file)->read(0, all).ok());
    EXPECT_EQ(all, bytes);
  }
}

// Some processors copy to addresses a few bytes after their source, modulo a page, in another way: base/copy.hpp.
TEST_P(StorageTest, AnyDistanceFromAPageGivesTheSameBytes) {
  constexpr size_t size = 300'001, most = 4096 + 80;
  auto created = storage_->create(path("f"), size, GetParam());
  SKIP_UNSUPPORTED(created);
  std::mt19937_64 random(9);
  std::vector<std::byte> expected(size);
  for (auto& b : expected) b = std::byte(random());
  ASSERT_TRUE((*created)->write(0, expected).ok());
  const std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(4096, size_t{4096} * 80)), &std::free);
  for (const size_t away : {size_t{0}, size_t{1}, size_t{16}, size_t{31}, size_t{63}, size_t{64}, size_t{4080}, most})
    for (const size_t length : {size_t{4095}, size_t{4096}, size_t{131'072}, size_t{131'073}, size - 9}) {
      const std::span<std::byte> target(memory.get() + away, length);
      std::ranges::fill(target, std::byte{0});
      ASSERT_TRUE((*created)->read(9, target).ok());
      EXPECT_TRUE(std::ranges::equal(target, std::span(expected).subspan(9, length))) << away << " " << length;
    }
}

TEST_P(StorageTest, AnEmptyFile) {
  auto file = storage_->create(path("f"), 0, GetParam());
  SKIP_UNSUPPORTED(file);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE((*file)->sync().ok());
  EXPECT_TRUE((*file)->close().ok());
  EXPECT_EQ(fs::file_size(path("f")), 0u);
}

std::string name_of(const testing::TestParamInfo<Io>& info) { return std::string(name(info.param)); }
INSTANTIATE_TEST_SUITE_P(Ways, StorageTest, testing::Values(Io::buffered, Io::direct, Io::mmap, Io::automatic),
                         name_of);

class StorageErrors : public StorageTest {};
INSTANTIATE_TEST_SUITE_P(Buffered, StorageErrors, testing::Values(Io::buffered), name_of);

void expect(const Status& status, Code code, const std::string& path) {
  EXPECT_EQ(status.code(), code) << status.message();
  EXPECT_NE(status.message().find(path), std::string::npos) << status.message();
}

TEST_P(StorageErrors, NameTheCallAndThePath) {
  const std::string absent = path("absent"), there = path("there"), nowhere = path("no/where");
  ASSERT_TRUE(storage_->create(there, 10, Io::buffered).ok());
  expect(storage_->open(absent, Io::buffered, false).status(), Code::not_found, absent);
  expect(storage_->stat(absent).status(), Code::not_found, absent);
  expect(storage_->create(there, 10, Io::buffered).status(), Code::exists, there);
  expect(storage_->create(nowhere, 10, Io::buffered).status(), Code::not_found, nowhere);
  expect(storage_->list(path("absent")).status(), Code::not_found, absent);
  expect(storage_->rename(absent, there), Code::not_found, absent);
  expect(storage_->sync_directory(path("no/where")), Code::not_found, path("no"));
  EXPECT_TRUE(storage_->remove(absent).ok());
  EXPECT_EQ(fs::file_size(there), 10u);
}

TEST_P(StorageErrors, ATooLargeFileLeavesNothing) {
  const auto file = storage_->create(path("f"), int64_t{1} << 60, Io::buffered);
  EXPECT_FALSE(file.ok());
  EXPECT_FALSE(fs::exists(path("f")));
}

TEST_P(StorageErrors, AReadOnlyFileOfAnother) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everything";
  ASSERT_TRUE(storage_->create(path("f"), 10, Io::buffered).ok());
  fs::permissions(path("f"), fs::perms::owner_read);
  expect(storage_->open(path("f"), Io::buffered, true).status(), Code::denied, path("f"));
}

TEST_P(StorageErrors, RenameReplacesRemoveRemovesListLists) {
  ASSERT_TRUE(storage_->create(path("a"), 1, Io::buffered).ok());
  ASSERT_TRUE(storage_->create(path("b"), 2, Io::buffered).ok());
  EXPECT_TRUE(storage_->rename(path("a"), path("b")).ok());
  EXPECT_TRUE(storage_->sync_directory(path("b")).ok());
  EXPECT_FALSE(fs::exists(path("a")));
  const auto info = storage_->stat(path("b"));
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->bytes, 1);
  EXPECT_FALSE(info->directory);
  EXPECT_TRUE(storage_->stat(folder_)->directory);
  const auto names = storage_->list(folder_);
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(std::count(names->begin(), names->end(), "b"), 1);
  EXPECT_EQ(std::count(names->begin(), names->end(), "a"), 0);
  EXPECT_TRUE(storage_->remove(path("b")).ok());
  EXPECT_FALSE(fs::exists(path("b")));
}

// Descriptors of this process to files in FOLDER without a name.
int64_t unnamed_files(const std::string& folder) {
  int64_t found = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry.path(), gone).string();
    found += target.starts_with(folder) && target.ends_with(" (deleted)");
  }
  return found;
}

TEST_P(StorageErrors, ALargeFileIsFreedLater) {
  const auto storage = posix_storage({}, true);
  FreedLater freed;
  for (const char* name : {"large", "other", "small", "linked"})
    ASSERT_TRUE(storage->create(path(name), name == std::string_view("small") ? 100000 : 8 << 20, Io::buffered).ok());
  fs::create_hard_link(path("linked"), path("link"));
  fs::create_symlink(path("large"), path("symlink"));
  for (const std::string& name : {path("small"), path("linked"), path("symlink"), path("absent"), folder_})
    EXPECT_FALSE(freed.hold(name)) << name;
  const bool holds = freed.hold(path("large"));
  EXPECT_TRUE(storage->rename(path("small"), path("large")).ok());
  EXPECT_EQ(fs::file_size(path("large")), 100000);
  EXPECT_TRUE(storage->remove(path("other")).ok());
  EXPECT_FALSE(fs::exists(path("other")));
  EXPECT_TRUE(storage->remove(path("other")).ok());
  if (!holds) GTEST_SKIP() << "the file system frees blocks elsewhere, or is nearly full";
  EXPECT_EQ(unnamed_files(folder_), 3);
  freed.free_held();
  storage->free_removed_files();
  for (int tenths = 0; unnamed_files(folder_) > 0 && tenths < 100; ++tenths) usleep(100000);
  EXPECT_EQ(unnamed_files(folder_), 0);
}

TEST_P(StorageErrors, TheTraceCountsWhatPasses) {
  CountedStorage counted(posix_storage());
  auto file = counted.create(path("f"), 100, Io::buffered, true);
  ASSERT_TRUE(file.ok());
  std::vector<std::byte> memory(60);
  EXPECT_TRUE((*file)->write(0, memory).ok());
  EXPECT_TRUE((*file)->write(60, std::span(memory).first(40)).ok());
  EXPECT_TRUE((*file)->read(10, std::span(memory).first(30)).ok());
  const StorageCounts before = counted.counts();
  EXPECT_EQ(before.writes, 2);
  EXPECT_EQ(before.write_bytes, 100);
  EXPECT_EQ(before.reads, 1);
  EXPECT_EQ(before.read_bytes, 30);
  EXPECT_EQ(before.metadata, 1);
  EXPECT_TRUE((*file)->sync().ok());
  EXPECT_TRUE((*file)->close().ok());
  EXPECT_TRUE(counted.rename(path("f"), path("g")).ok());
  EXPECT_TRUE(counted.stat(path("g")).ok());
  EXPECT_TRUE(counted.remove(path("g")).ok());
  EXPECT_EQ(counted.counts().metadata, 6);
}

class Folders : public StorageTest {
 protected:
  void make_folder(const char* name, const char* content) {
    fs::create_directories(path(name) + "/deep");
    std::ofstream(path(name) + "/deep/file") << content;
  }
  std::string content(const char* name) const {
    std::string text;
    std::ifstream(path(name)) >> text;
    return text;
  }
};

TEST_P(Folders, RemoveTreeRemovesAllAndFollowsNoLink) {
  make_folder("kept", "kept");
  make_folder("tree", "gone");
  fs::create_directory_symlink(path("kept"), path("tree") + "/link");
  EXPECT_TRUE(storage_->remove_tree(path("tree")).ok());
  EXPECT_FALSE(fs::exists(path("tree")));
  EXPECT_EQ(content("kept/deep/file"), "kept");
  EXPECT_TRUE(storage_->remove_tree(path("tree")).ok());  // absence is ok
  EXPECT_FALSE(storage_->remove_tree(path("kept/deep/file/below")).ok());
}

TEST_P(Folders, ALinkIsASecondNameAndReplacesNothing) {
  std::ofstream(path("one")) << "content";
  EXPECT_TRUE(storage_->link(path("one"), path("two")).ok());
  EXPECT_EQ(content("two"), "content");
  EXPECT_TRUE(same_file(*storage_->stat(path("one")), *storage_->stat(path("two"))));
  EXPECT_EQ(storage_->link(path("one"), path("two")).code(), Code::exists);
  EXPECT_EQ(storage_->link(path("none"), path("three")).code(), Code::not_found);
  EXPECT_TRUE(storage_->remove(path("one")).ok());
  EXPECT_EQ(content("two"), "content");
}

class WithoutExchange : public CountedStorage {
 public:
  WithoutExchange() : CountedStorage(posix_storage()) {}
  Status exchange(const std::string&, const std::string&) override { return {Code::unsupported, "no exchange here"}; }
  Status rename(const std::string& from, const std::string& to) override {
    return from == refused ? Status(Code::io, "this rename fails") : CountedStorage::rename(from, to);
  }
  std::string refused;
};

TEST_P(Folders, TakeThePlaceOfFoldersAndFiles) {
  for (const bool exchanges : {true, false}) {
    std::shared_ptr<Storage> storage = exchanges ? storage_ : std::make_shared<WithoutExchange>();
    make_folder("new", "first");
    auto placed = put_in_place(*storage, path("new"), path("target"), *existing_file(*storage, path("target")));
    ASSERT_TRUE(placed.ok()) << placed.status().message();
    EXPECT_FALSE(*placed);
    make_folder("new", "second");
    placed = put_in_place(*storage, path("new"), path("target"), *existing_file(*storage, path("target")));
    ASSERT_TRUE(placed.ok()) << placed.status().message();
    EXPECT_TRUE(*placed);
    EXPECT_EQ(content("target/deep/file"), "second");
    EXPECT_EQ(content("new/deep/file"), "first");
    std::ofstream(path("file")) << "plain";
    placed = put_in_place(*storage, path("file"), path("target"), *existing_file(*storage, path("target")));
    ASSERT_TRUE(placed.ok()) << placed.status().message();
    EXPECT_TRUE(*placed);
    EXPECT_EQ(content("target"), "plain");
    for (const char* name : {"new", "file", "target"}) fs::remove_all(path(name));
    EXPECT_TRUE(fs::is_empty(folder_));
  }
}

TEST_P(Folders, WhatWasThereComesBackWhenTheSecondRenameFails) {
  WithoutExchange storage;
  make_folder("new", "second");
  make_folder("target", "first");
  storage.refused = path("new");
  EXPECT_EQ(put_in_place(storage, path("new"), path("target"), *existing_file(storage, path("target"))).status().code(),
            Code::io);
  EXPECT_EQ(content("target/deep/file"), "first");
}

INSTANTIATE_TEST_SUITE_P(Buffered, Folders, testing::Values(Io::buffered), name_of);

}  // namespace
}  // namespace penstock
