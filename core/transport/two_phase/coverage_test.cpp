// Tests of coverage: against a list of bytes, for random pieces.
#include "core/transport/two_phase/coverage.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace penstock {
namespace {

TEST(Coverage, FindsTheStretchesThatAListOfBytesHas) {
  std::mt19937 random(7);
  const auto below = [&](int64_t most) { return std::uniform_int_distribution<int64_t>(0, most - 1)(random); };
  for (int repetition = 0; repetition < 300; ++repetition) {
    const AddressRange window{1000 + below(200), 1400 + below(2000)};
    bool overlaps = false;
    std::vector<char> bytes(static_cast<size_t>(window.end - window.begin));
    Coverage coverage(window);
    for (int64_t piece = below(12); piece > 0; --piece) {
      const int64_t length = 1 + below(90), rows = 1 + below(6), distance = length + below(300);
      Piece one;
      one.address = below(3200);
      one.selection = Selection::of_box({rows, distance}, {{0, 0}, {rows, length}});
      coverage.add(one);
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < length; ++i)
          if (const int64_t at = one.address + row * distance + i; at >= window.begin && at < window.end)
            overlaps = std::exchange(bytes[static_cast<size_t>(at - window.begin)], 1) != 0 || overlaps;
    }
    EXPECT_EQ(coverage.overlaps(), overlaps);
    const int64_t bridge = 1 + below(200);
    std::vector<Stretch> expected;
    for (int64_t at = 0; at < std::ssize(bytes); ++at) {
      if (!bytes[static_cast<size_t>(at)]) continue;
      const int64_t address = window.begin + at;
      if (expected.empty() || address - expected.back().range.end >= bridge)
        expected.push_back({{address, address}, false});
      expected.back().gaps = expected.back().gaps || address > expected.back().range.end;
      expected.back().range.end = address + 1;
    }
    const std::vector<Stretch> found = coverage.stretches(bridge);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].range.begin, expected[i].range.begin);
      EXPECT_EQ(found[i].range.end, expected[i].range.end);
      EXPECT_EQ(found[i].gaps, expected[i].gaps);
    }
  }
}

}  // namespace
}  // namespace penstock
