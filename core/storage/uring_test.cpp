// Tests of queue_depth: same bytes and errors at each depth, with a ring, without one, and after a failure of the ring.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>
#include <tuple>

#include "core/storage/aligned.hpp"
#include "core/storage/refused_call.hpp"
#include "core/storage/storage.hpp"
#include "core/storage/uring.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;
constexpr int64_t request = Uring::request_bytes;

class UringTest : public testing::TestWithParam<std::tuple<Io, int64_t>> {
 protected:
  void SetUp() override {
    std::string name = fs::current_path() / "uring-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  IoMode mode() const { return {std::get<0>(GetParam()), std::get<1>(GetParam())}; }
  // Null if the file system does not support O_DIRECT.
  StorageFilePtr create(const char* name, int64_t bytes, IoMode mode) {
    const std::string path = folder_ + "/" + name;
    auto made = storage_->create(path, bytes, Io::buffered);
    EXPECT_TRUE(made.ok() && (*made)->close().ok());
    auto file = storage_->open(path, mode, true);
    EXPECT_TRUE(file.ok() || file.status().code() == Code::unsupported) << file.status().message();
    return file.ok() ? *std::move(file) : nullptr;
  }

  std::string folder_;
  std::shared_ptr<Storage> storage_ = posix_storage();
};

#define SKIP_WITHOUT(file) \
  if (!(file)) GTEST_SKIP() << "this file system has no O_DIRECT"

// Starts at an odd address.
struct Memory {
  explicit Memory(int64_t bytes) : whole(static_cast<size_t>(bytes) + 1) {}
  std::span<std::byte> bytes() { return std::span(whole).subspan(1); }
  std::vector<std::byte> whole;
};

Memory random_memory(int64_t bytes, uint64_t seed) {
  Memory memory(bytes);
  std::mt19937_64 random(seed);
  uint64_t word = 0;
  for (size_t i = 0; i < memory.whole.size(); ++i, word >>= 8) {
    if (i % 8 == 0) word = random();
    memory.whole[i] = std::byte(word);
  }
  return memory;
}

void round_trips(StorageFile& file, int64_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  Memory expected = random_memory(size, seed), found(size);
  ASSERT_TRUE(file.write(0, expected.bytes()).ok());
  for (int i = 0; i < 6; ++i) {
    const auto offset = static_cast<int64_t>(random() % static_cast<uint64_t>(size));
    const auto length = static_cast<int64_t>(random() % static_cast<uint64_t>(size - offset)) + 1;
    Memory piece = random_memory(length, random());
    ASSERT_TRUE(file.write(offset, piece.bytes()).ok());
    std::copy(piece.bytes().begin(), piece.bytes().end(), expected.bytes().begin() + offset);
    const auto from = static_cast<int64_t>(random() % static_cast<uint64_t>(size));
    const auto part = found.bytes().subspan(static_cast<size_t>(from));
    ASSERT_TRUE(file.read(from, part).ok());
    ASSERT_TRUE(std::equal(part.begin(), part.end(), expected.bytes().begin() + from)) << "from " << from;
  }
}

TEST_P(UringTest, WhatIsWrittenAnywhereIsRead) {
  const int64_t size = 9 * request + 12345;
  const auto file = create("f", size, mode());
  SKIP_WITHOUT(file);
  round_trips(*file, size, 5);
  EXPECT_TRUE(file->close().ok());
  EXPECT_EQ(static_cast<int64_t>(fs::file_size(folder_ + "/f")), size);
}

TEST_P(UringTest, AlignedMemoryTakesNoDetour) {
  const int64_t size = 7 * request + direct_alignment;
  const auto file = create("f", size, mode());
  SKIP_WITHOUT(file);
  const auto written = aligned_memory(size), read = aligned_memory(size);
  for (int64_t i = 0; i < size; ++i) written.get()[i] = std::byte(i / direct_alignment + i / request + i);
  ASSERT_TRUE(file->write(0, std::span(written.get(), size)).ok());
  ASSERT_TRUE(file->read(0, std::span(read.get(), size)).ok());
  EXPECT_TRUE(std::equal(read.get(), read.get() + size, written.get()));
}

TEST_P(UringTest, AFileThatEndsTooEarlyIsDamaged) {
  const int64_t size = 4 * request + 5000;
  const auto file = create("f", size, mode());
  SKIP_WITHOUT(file);
  const auto plain = create("plain", size, mode().io);
  for (const int64_t offset : {int64_t{0}, 3 * request, 5 * request}) {
    Memory memory(8 * request);
    const Status status = file->read(offset, memory.bytes());
    EXPECT_EQ(status.code(), Code::damaged) << status.message();
    const auto told = [](const Status& s) { return s.message().substr(s.message().find("ends at")); };
    EXPECT_EQ(told(status), told(plain->read(offset, memory.bytes())));
  }
}

TEST_P(UringTest, AWriteThatFailsPartOfTheWaySaysWhere) {
  const auto file = create("f", 9 * request, mode());
  SKIP_WITHOUT(file);
  const auto plain = create("plain", 9 * request, mode().io);
  Memory memory = random_memory(9 * request, 7);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{5 * request + 2 * direct_alignment, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  const Status status = file->write(0, memory.bytes()), expected = plain->write(0, memory.bytes());
  setrlimit(RLIMIT_FSIZE, &before);
  (void)std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(expected.ok());
  EXPECT_EQ(status.code(), expected.code()) << status.message();
  EXPECT_NE(status.message().find("bytes at offset 5251072 of"), std::string::npos) << status.message();
  EXPECT_NE(expected.message().find("bytes at offset 5251072 of"), std::string::npos) << expected.message();
  EXPECT_TRUE(file->write(0, memory.bytes()).ok());  // the file stays usable
}

TEST_P(UringTest, AFullDiskIsNoSpace) {
  if (mode().io != Io::buffered) GTEST_SKIP() << "tests/faults fills a real one";
  auto full = storage_->open("/dev/full", mode(), true);
  if (!full.ok()) GTEST_SKIP() << full.status().message();
  Memory memory(3 * request);
  const Status status = (*full)->write(0, memory.bytes());
  EXPECT_EQ(status.code(), Code::no_space);
  EXPECT_TRUE(status.message().starts_with("writing 3145728 bytes at offset 0 of '/dev/full'")) << status.message();
}

TEST_P(UringTest, ThreadsMoveDisjointRangesAtOnce) {
  const int64_t share = 3 * request + 777;
  const auto file = create("f", 4 * share, mode());
  SKIP_WITHOUT(file);
  std::vector<std::thread> threads;
  std::array<int, 4> right{};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int repetition = 0; repetition < 6; ++repetition) {
        Memory memory = random_memory(share, static_cast<uint64_t>(t * 100 + repetition)), found(share);
        const bool moved = file->write(t * share, memory.bytes()).ok() && file->read(t * share, found.bytes()).ok();
        right[static_cast<size_t>(t)] += moved && std::ranges::equal(memory.bytes(), found.bytes());
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const int count : right) EXPECT_EQ(count, 6);
}

int rings() {
  int found = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    found += fs::read_symlink(entry.path(), gone).string() == "anon_inode:[io_uring]";
  }
  return found;
}

bool has_rings() {
#ifdef PENSTOCK_URING
  return syscall(SYS_io_uring_setup, 1, nullptr) == -1 && errno == EFAULT;
#else
  return false;
#endif
}

TEST(HasIoUring, IsWhatTheKernelSays) { EXPECT_EQ(has_io_uring(), has_rings()); }

TEST_P(UringTest, ARingIsMadeForALongMovementOnly) {
  const auto file = create("f", 4 * request, mode());
  SKIP_WITHOUT(file);
  Memory memory(4 * request);
  EXPECT_TRUE(file->write(5, memory.bytes().first(request / 2)).ok());
  EXPECT_EQ(rings(), 0);
  EXPECT_TRUE(file->write(0, memory.bytes()).ok());
  EXPECT_EQ(rings(), mode().queue_depth > 1 && has_rings() ? 1 : 0);
}

TEST_P(UringTest, WithoutARingItIsTheSame) {
  const int64_t size = 5 * request + 99;
  for (const int error : {EPERM, ENOSYS, ENOMEM}) {
    const auto file = create(std::to_string(error).c_str(), size, mode());
    SKIP_WITHOUT(file);
    const bool ran = with_refused(SYS_io_uring_setup, error, [&] {
      EXPECT_FALSE(has_io_uring());
      round_trips(*file, size, static_cast<uint64_t>(error));
      EXPECT_EQ(rings(), 0);
    });
    if (!ran) GTEST_SKIP() << "this kernel takes no seccomp filter";
  }
}

TEST_P(UringTest, ARingThatBreaksIsGivenUp) {
  const int64_t size = 5 * request + 99;
  for (const int error : {EPERM, EAGAIN}) {
    const auto file = create(std::to_string(error).c_str(), size, mode());
    SKIP_WITHOUT(file);
    Memory memory = random_memory(size, 3);
    ASSERT_TRUE(file->write(0, memory.bytes()).ok());
    EXPECT_EQ(rings(), mode().queue_depth > 1 && has_rings() ? 1 : 0);
    const bool ran =
        with_refused(SYS_io_uring_enter, error, [&] { round_trips(*file, size, static_cast<uint64_t>(error)); });
    if (!ran) GTEST_SKIP() << "this kernel takes no seccomp filter";
    EXPECT_EQ(rings(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Depths, UringTest,
                         testing::Combine(testing::Values(Io::buffered, Io::direct), testing::Values(1, 4, 16)),
                         [](const auto& info) {
                           return std::string(name(std::get<0>(info.param))) + std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace penstock
