// Tests of the resident memory's peak.
#include "bench/measure/resident.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace penstock::bench {
namespace {

constexpr size_t size = 64 << 20;

void touch() {
  const std::unique_ptr<char[]> memory(new char[size]);
  std::memset(memory.get(), 1, size);
  EXPECT_EQ(*const_cast<volatile char*>(memory.get() + size / 2), 1);
}

TEST(ResidentPeak, SeesWhatWasFreedSince) {
  touch();
  const ResidentPeak before;
  if (!before.growth()) GTEST_SKIP() << "this kernel does not say how much memory was resident";
  EXPECT_LT(*before.growth(), int64_t{size / 4});
  touch();
  EXPECT_GE(*before.growth(), int64_t{size} / 4 * 3);  // the kernel counts in batches
  const ResidentPeak after;
  EXPECT_LT(*after.growth(), int64_t{size / 4});
}

}  // namespace
}  // namespace penstock::bench
