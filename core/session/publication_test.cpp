// Tests of publication on one rank: existence, owner, bytes, accompanying files and permissions of a file.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>

#include "core/session/testing.hpp"
#include "core/storage/refused_call.hpp"

namespace penstock {
namespace {

using namespace test;

// Also where nothing of its data stays: parts would be left behind.
TEST_P(Session, ASetStaysASetAndAFileAFile) {
  const std::string& plan = GetParam();
  if (plan.starts_with("raw")) return;  // always an index and its parts
  const size_t colon = plan.find(':');
  const std::string other = colon == std::string::npos ? plan + ":placement=parts,parts=2" : plan.substr(0, colon);
  const auto data = numbers(2000), again = numbers(2000, 5);
  auto file = create();
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->lend("data", f64, whole({2000}), data.data()).ok());
  ASSERT_TRUE(file->close().ok());
  auto changed = File::reopen(comm_, path_, other);
  if (!changed.ok()) return;
  ASSERT_TRUE(changed->lend("data", f64, whole({2000}), again.data()).ok());
  const Status status = changed->close();
  EXPECT_EQ(status.code(), Code::unsupported) << status.message();
  EXPECT_EQ(read("data", {2000}), data);
}

// Between datasets, which begin at blocks, nothing of earlier data in the same buffer is left.
TEST_P(Session, GapsBetweenDatasetsAreZero) {
  const auto dirt = numbers(30000, 7), data = numbers(1500, 1);
  for (int turn = 0; turn < 3; ++turn) {
    auto file = create();
    ASSERT_TRUE(file.ok());
    if (turn == 1) ASSERT_TRUE(file->lend("dirt", f64, whole({30000}), dirt.data()).ok());
    for (const char* name : {"a", "b", "c"})
      if (turn != 1) ASSERT_TRUE(file->lend(name, f64, whole({1500}), data.data()).ok());
    ASSERT_TRUE(file->close().ok());
  }
  size_t found = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::string pattern(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(double));
    size_t end = 0;
    for (size_t at = text.find(pattern); at != std::string::npos; at = text.find(pattern, end)) {
      for (size_t i = end; end > 0 && i < at; ++i) ASSERT_EQ(text[i], 0) << entry.path() << ", byte " << i;
      end = at + pattern.size();
      ++found;
    }
  }
  EXPECT_EQ(found, GetParam().starts_with("netcdf") ? 0 : 3);  // netCDF swaps bytes
}

TEST_P(Session, NothingIsThereBeforeCommitAndTheOldFileUntilThen) {
  make();
  {
    auto file = create();
    ASSERT_TRUE(file.ok());
    const auto data = numbers(3, 50);
    ASSERT_TRUE(file->put("data", f64, whole({3}), data.data()).ok());
    EXPECT_EQ(read("data", {12}), numbers(12));
  }  // abandoned
  EXPECT_EQ(read("data", {12}), numbers(12));
  for (const std::string& name : entries()) EXPECT_FALSE(name.starts_with(".")) << name;
  make(4);
  EXPECT_EQ(read("data", {4}), numbers(4));
}

// Whether WORK succeeded in another process, which then ends.
bool elsewhere(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_P(Session, AnotherJobsFileStaysAndTheLoserIsTold) {
  for (const bool there_before : {false, true}) {
    if (there_before) make(5);
    auto file = create();
    ASSERT_TRUE(file.ok()) << file.status().message();
    const auto ours = numbers(3, 50);
    ASSERT_TRUE(file->put("data", f64, whole({3}), ours.data()).ok());
    ASSERT_TRUE(elsewhere([&] {
      make(12);
      return !HasFailure();
    }));
    const auto before = entries();
    const Status status = file->close();
    EXPECT_EQ(status.code(), Code::exists) << status.message();
    EXPECT_NE(status.message().find("Another job writes it too"), std::string::npos) << status.message();
    EXPECT_EQ(entries(), before);
    EXPECT_EQ(read("data", {12}), numbers(12));
  }
  make(4);
  EXPECT_EQ(read("data", {4}), numbers(4));
}

TEST_P(Session, TwoFilesOfOneProgramMayHaveOneTarget) {
  auto first = create(), second = create();
  ASSERT_TRUE(first.ok() && second.ok());
  const auto a = numbers(3, 1), b = numbers(4, 2);
  ASSERT_TRUE(first->put("data", f64, whole({3}), a.data()).ok());
  ASSERT_TRUE(second->put("data", f64, whole({4}), b.data()).ok());
  EXPECT_TRUE(first->close().ok());
  const Status status = second->close();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read("data", {4}), b);
}

TEST_P(Session, ErrorsSayTheNameThatTheUserGave) {
  auto file = create();
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto data = numbers(12);
  ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
  const std::string name = file->path();
  fs::remove_all(folder_);
  const Status status = file->close();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message().find(".partial"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
}

TEST_P(Session, WhatTheDeadLeftOfThisTargetIsReported) {
  make();
  ASSERT_TRUE(elsewhere([&] {  // killed while it writes
    auto file = create();
    const auto data = numbers(3);
    if (!file.ok() || !file->put("data", f64, whole({3}), data.data()).ok() || !file->commit_start().ok()) return false;
    for (const std::string& name : entries())
      if (name.starts_with(".")) ::_exit(0);
    return false;
  }));
  std::string partial;
  for (const std::string& name : entries())
    if (name.starts_with(".")) partial = name;
  ASSERT_NE(partial, "");
  for (const bool reopened : {false, true}) {
    auto file = reopened ? reopen() : create();
    ASSERT_TRUE(file.ok()) << file.status().message();
    const auto data = numbers(12);
    ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
    if (reopened && GetParam().find("placement=") != std::string::npos) continue;
    ASSERT_TRUE(file->commit().ok());
    ASSERT_EQ(file->report().warnings.size(), 1U);
    const std::string& warning = file->report().warnings[0];
    EXPECT_NE(warning.find(partial), std::string::npos) << warning;
    EXPECT_NE(warning.find("has ended"), std::string::npos) << warning;
  }
  EXPECT_TRUE(fs::exists(folder_ + "/" + partial));
}

TEST_P(Session, WhatIsPublishedPermitsWhatTheUmaskLets) {
  const mode_t before = ::umask(027);
  make();
  make(5);
  ::umask(before);
  for (const std::string& name : entries())
    EXPECT_EQ(fs::status(folder_ + "/" + name).permissions(), fs::perms(0640)) << name;
}

// On purpose, since its time shows it.
void put_7_for_11(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view from("\x40\x26\0\0\0\0\0\0", 8), to("\x40\x1c\0\0\0\0\0\0", 8);
  for (const bool reversed : {false, true}) {
    const auto ordered = [&](std::string_view text) {
      return reversed ? std::string(text.rbegin(), text.rend()) : std::string(text);
    };
    const size_t at = content.find(ordered(from));
    if (at == std::string::npos) continue;
    file.seekp(static_cast<std::streamoff>(at));
    file << ordered(to);
  }
  file.close();
  fs::last_write_time(path, fs::file_time_type::clock::now() + std::chrono::seconds(10));
}

// By copies that nobody else can read at any time: where their mode cannot be changed, it stays that of their creation.
TEST_P(Session, WhatIsMadeAgainIsForWhomTheOldWas) {
#ifdef SYS_chmod
  constexpr int change_mode = SYS_chmod;
#else
  constexpr int change_mode = SYS_fchmodat;
#endif
  const bool set = GetParam().find("per_rank") != std::string::npos || GetParam().starts_with("raw");
  auto file = File::create(
      comm_, path_,
      GetParam() + (GetParam().find(':') == std::string::npos ? ":" : ",") + (set ? "parity=1" : "checksums=crc64"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto data = numbers(12);
  ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
  ASSERT_TRUE(file->close().ok());
  for (const std::string& name : entries()) {
    fs::permissions(folder_ + "/" + name, fs::perms(0600));
    if (set && name.find(".parity") != std::string::npos) fs::remove(folder_ + "/" + name);
  }
  const auto check_modes = [&] {
    for (const std::string& name : entries())
      EXPECT_EQ(fs::status(folder_ + "/" + name).permissions(), fs::perms(0600)) << name;
  };
  const bool ran = with_refused(change_mode, EPERM, [&] {
    if (set) {
      const auto repaired = File::repair(comm_, path_);
      ASSERT_TRUE(repaired.ok()) << repaired.status().message();
      check_modes();
    }
    for (const std::string& name : entries()) put_7_for_11(folder_ + "/" + name);
    const auto sealed = File::seal(comm_, path_, true);
    ASSERT_TRUE(sealed.ok()) << sealed.status().message();
    EXPECT_TRUE(sealed->renewed);
    check_modes();
  });
  if (!ran) GTEST_SKIP() << "this kernel takes no seccomp filter";
}

TEST_P(Session, ASingleFileThatTakesThePlaceOfASetLeavesNoParts) {
  make();
  make();
  const std::string plan = GetParam().substr(0, GetParam().find(':'));
  auto file = File::create(comm_, path_, plan);
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto data = numbers(12);
  ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
  ASSERT_TRUE(file->close().ok());
  EXPECT_EQ(read("data", {12}), data);
  if (plan.starts_with("hdf5")) {
    EXPECT_EQ(entries().size(), 1U);  // elsewhere the master of a set has a name of its own, and stays
  }
}

}  // namespace
}  // namespace penstock
