// Tests of captured memory: what is released is used again, and no more is kept than was once used.
#include "core/commit/captured.hpp"

#include <unistd.h>

#include <cstring>
#include <fstream>

#include <gtest/gtest.h>

namespace penstock {
namespace {

constexpr int64_t mib = 1 << 20;

int64_t mapped_bytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

TEST(Captured, MemoryIsUsedAgain) {
  const std::byte* first = nullptr;
  {
    const auto memory = captured_memory(3 * mib);
    first = memory.get();
    std::memset(memory.get(), 7, static_cast<size_t>(3 * mib));
  }
  const auto again = captured_memory(3 * mib - 100), other = captured_memory(3 * mib);
  EXPECT_EQ(again.get(), first);
  EXPECT_NE(other.get(), first);
}

TEST(Captured, NoMoreIsKeptThanWasUsedAtOnce) {
  const int64_t before = mapped_bytes();
  const std::byte* last = nullptr;
  for (const int64_t size : {10, 21, 43, 87, 175}) last = captured_memory(size * mib).get();  // none serves the next
  EXPECT_LT(mapped_bytes() - before, 200 * mib);
  EXPECT_EQ(captured_memory(175 * mib).get(), last);
}

TEST(Captured, ABlockIsNotTakenForMuchLess) {
  const std::byte* large = captured_memory(400 * mib).get();
  EXPECT_NE(captured_memory(mib).get(), large);
  EXPECT_EQ(captured_memory(399 * mib).get(), large);
}

TEST(Captured, NothingAndTooMuch) {
  EXPECT_NE(captured_memory(0), nullptr);
  EXPECT_EQ(captured_memory(int64_t{1} << 60), nullptr);
  EXPECT_NE(captured_memory(mib), nullptr);
}

}  // namespace
}  // namespace penstock
