// Tests of comparisons: tolerance, NaN, integers beyond the range of doubles, mixed types.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "programs/diff/compare.hpp"

namespace penstock::program {
namespace {

template <typename T>
const std::byte* raw(const std::vector<T>& list) {
  return reinterpret_cast<const std::byte*>(list.data());
}

const ElementType f64{Kind::f64}, f32{Kind::f32}, i64{Kind::i64}, u64{Kind::u64}, c64{Kind::complex64};
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

Differences doubles(const std::vector<double>& a, const std::vector<double>& b, const Tolerance& tolerance = {}) {
  return compare(f64, raw(a), f64, raw(b), std::ssize(a), 100, tolerance);
}

TEST(Compare, CountsAndPlaces) {
  const Differences found = doubles({1, 2, 3, 4}, {1, 2.5, 3, 8});
  EXPECT_EQ(found.count, 2);
  EXPECT_EQ(found.first, 101);
  EXPECT_EQ(found.largest, 4);
  EXPECT_EQ(found.largest_at, 103);
  EXPECT_EQ(found.largest_relative, 0.5);
}

TEST(Compare, ToleranceIsThatOfNumpy) {
  EXPECT_EQ(doubles({1.1}, {1.0}, {0.11, 0, false}).count, 0);
  EXPECT_EQ(doubles({1.1}, {1.0}, {0.09, 0, false}).count, 1);
  EXPECT_EQ(doubles({1e-9}, {0}, {1, 0, false}).count, 1);
  EXPECT_EQ(doubles({1e-9}, {0}, {0, 1e-8, false}).count, 0);
  EXPECT_EQ(doubles({inf}, {1e300}, {0.5, 1, false}).count, 1);
  EXPECT_EQ(doubles({1e300}, {inf}, {0.5, 1, false}).count, 1);
}

TEST(Compare, NanAndInfinity) {
  EXPECT_EQ(doubles({nan, inf, -inf}, {nan, inf, -inf}).count, 0);
  EXPECT_EQ(doubles({nan}, {nan}, {0, 0, true}).count, 1);
  const Differences found = doubles({nan, inf, 1}, {1, -inf, nan}, {1, 1, false});
  EXPECT_EQ(found.count, 3);
  EXPECT_EQ(found.largest_at, -1);
  EXPECT_EQ(doubles({0.0}, {-0.0}).count, 0);
}

TEST(Compare, IntegersAreNotRounded) {
  const std::vector<int64_t> a{INT64_MAX, INT64_MIN, -1};
  EXPECT_EQ(compare(i64, raw(a), i64, raw(std::vector<int64_t>{INT64_MAX - 1, INT64_MIN, -1}), 3, 0, {}).count, 1);
  EXPECT_EQ(compare(i64, raw(a), u64, raw(std::vector<uint64_t>{INT64_MAX, 0, UINT64_MAX}), 3, 0, {}).count, 2);
  EXPECT_EQ(
      compare(i64, raw(a), f64, raw(std::vector<double>{9223372036854775807.0, -9223372036854775808.0, -1}), 3, 0, {})
          .count,
      1);
}

TEST(Compare, TypesAgainstEachOther) {
  EXPECT_EQ(compare(f64, raw(std::vector<double>{0.1, 0.5}), f32, raw(std::vector<float>{0.1F, 0.5F}), 2, 0, {}).count,
            1);
  EXPECT_EQ(
      compare(f64, raw(std::vector<double>{0.1}), f32, raw(std::vector<float>{0.1F}), 1, 0, {1e-7, 0, false}).count, 0);
  const std::vector<std::complex<float>> a{{3, 4}}, b{{0, 0}};
  EXPECT_EQ(compare(c64, raw(a), c64, raw(b), 1, 0, {}).largest, 5);
  EXPECT_FALSE(comparable({Kind::text, 3}, f64));
  const std::string longer("ab\0\0cd\0\0", 8), shorter("abcx", 4);
  EXPECT_EQ(compare({Kind::text, 4}, reinterpret_cast<const std::byte*>(longer.data()), {Kind::text, 2},
                    reinterpret_cast<const std::byte*>(shorter.data()), 2, 0, {})
                .first,
            1);
}

}  // namespace
}  // namespace penstock::program
