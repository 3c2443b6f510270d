// Tests of errors: where the largest are, bounds, NaN and infinities, packed values, mixed types.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "programs/diff/errors.hpp"

namespace penstock::program {
namespace {

const ElementType f64{Kind::f64}, f32{Kind::f32}, i16{Kind::i16}, i64{Kind::i64}, c128{Kind::complex128};
constexpr double no_number = std::numeric_limits<double>::quiet_NaN(), infinite = HUGE_VAL;

template <typename T>
Elements stored(const ElementType& type, const std::vector<T>& list, const Packing& packing = {}) {
  return {type, packing, reinterpret_cast<const std::byte*>(list.data())};
}

Errors doubles(const std::vector<double>& ours, const std::vector<double>& reference, const Limits& limits = {}) {
  return errors_of(stored(f64, ours), stored(f64, reference), std::ssize(ours), 100, limits);
}

TEST(Errors, AreLargestWhereTheyAre) {
  const Errors found = doubles({1, 2.5, 3, 808, 5}, {1, 2, 3, 800, 5});
  EXPECT_EQ(found.bits, 2);
  EXPECT_EQ(found.differing, 2);
  EXPECT_EQ(found.first, 101);
  EXPECT_EQ(found.absolute.error, 8);
  EXPECT_EQ(found.absolute.at, 103);
  EXPECT_EQ(found.relative.error, 0.25);
  EXPECT_EQ(found.relative.at, 101);
  const Errors none = doubles({1, no_number, infinite}, {1, no_number, infinite});
  EXPECT_EQ(none.bits, 0);
  EXPECT_EQ(none.absolute.at, -1);
}

TEST(Errors, AreWithinTheLargerLimit) {
  const std::vector<double> ours{1.5, 101, 0.25}, reference{1, 100, 0};
  EXPECT_EQ(doubles(ours, reference).beyond, 3);
  EXPECT_EQ(doubles(ours, reference, {.absolute = 0.5}).beyond, 1);
  EXPECT_EQ(doubles(ours, reference, {.absolute = 0.5}).first_beyond, 101);
  EXPECT_EQ(doubles(ours, reference, {.relative = 0.01}).beyond, 2);
  EXPECT_EQ(doubles(ours, reference, {.absolute = 0.5, .relative = 0.01}).beyond, 0);
  EXPECT_EQ(doubles(ours, reference, {.absolute = std::nextafter(0.5, 0), .relative = 0.01}).beyond, 1);
  EXPECT_EQ(doubles(ours, reference, {.absolute = 1}).absolute.error, 1) << "also what is within";
}

TEST(Errors, OfZeroAndInfinitiesAreInfinite) {
  const Errors zero = doubles({1e-300}, {0}, {.relative = 1e300});
  EXPECT_EQ(zero.beyond, 1);
  EXPECT_EQ(zero.relative.error, infinite);
  EXPECT_EQ(zero.absolute.error, 1e-300);
  for (const auto& [one, other] : {std::pair(infinite, 1.0), {1.0, -infinite}, {infinite, -infinite}}) {
    const Errors found = doubles({one}, {other}, {.absolute = 1e308, .relative = 1e308});
    EXPECT_EQ(found.beyond, 1);
    EXPECT_EQ(found.absolute.error, infinite);
    EXPECT_EQ(found.relative.error, infinite);
  }
}

TEST(Errors, NanOnOneSideIsCounted) {
  const Errors found = doubles({no_number, no_number, 3}, {no_number, 2, no_number}, {.absolute = 1e9});
  EXPECT_EQ(found.one_nan, 2);
  EXPECT_EQ(found.first_one_nan, 101);
  EXPECT_EQ(found.beyond, 2);
  EXPECT_EQ(found.absolute.at, -1);
}

TEST(Errors, EqualValuesMayHaveOtherBits) {
  const Errors zeros = doubles({0.0, 1}, {-0.0, 1});
  EXPECT_EQ(zeros.bits, 1);
  EXPECT_EQ(zeros.differing, 0);
  const std::vector<double> wide{0.5, 0.1};
  const std::vector<float> narrow{0.5F, 0.1F};
  const Errors mixed = errors_of(stored(f32, narrow), stored(f64, wide), 2, 0, {.relative = 0x1p-24});
  EXPECT_EQ(mixed.bits, 2);
  EXPECT_EQ(mixed.differing, 1);
  EXPECT_EQ(mixed.beyond, 0);
  EXPECT_EQ(mixed.absolute.error, static_cast<double>(0.1F) - 0.1);
}

TEST(Errors, IntegersAndComplexNumbers) {
  const std::vector<int64_t> one{INT64_MAX, 5}, other{INT64_MAX - 1, 5};
  EXPECT_EQ(errors_of(stored(i64, one), stored(i64, other), 2, 0, {}).absolute.error, 1);
  const std::vector<std::complex<double>> a{{3, 4}}, b{{0, 0}};
  EXPECT_EQ(errors_of(stored(c128, a), stored(c128, b), 1, 0, {}).absolute.error, 5);
  const ElementType text{Kind::text, 2}, longer{Kind::text, 3};
  const std::vector<char> words{'a', 'b', 'c', 'd'}, others{'a', 'b', 0, 'c', 'e', 0};
  const Errors found = errors_of(stored(text, words), stored(longer, others), 2, 0, {.absolute = 1e9});
  EXPECT_EQ(found.beyond, 1);
  EXPECT_EQ(found.first_beyond, 1);
}

TEST(Errors, AreThoseOfUnpackedValues) {
  const Packing packing{true, 0.01, 273, -32768};
  const std::vector<int16_t> packed{100, -50, -32768};
  const std::vector<double> values{274, 272.503, no_number};
  const Errors found = errors_of(stored(i16, packed, packing), stored(f64, values), 3, 0, {.absolute = 0.005});
  EXPECT_EQ(found.beyond, 0);
  EXPECT_NEAR(found.absolute.error, 0.003, 1e-9);
  EXPECT_EQ(found.absolute.at, 1);
  EXPECT_EQ(found.one_nan, 0);
  const std::vector<int16_t> same{100, -50, -32768};
  EXPECT_EQ(errors_of(stored(i16, packed, packing), stored(i16, same, packing), 3, 0, {}).bits, 0);
  const Packing finer{true, 0.005, 273, -32768};
  EXPECT_EQ(errors_of(stored(i16, packed, packing), stored(i16, same, finer), 2, 0, {}).absolute.error, 0.5);
}

TEST(Errors, OfSeveralRanksAreAdded) {
  Errors sum;
  sum.add(errors_of(stored(f64, std::vector<double>{9}), stored(f64, std::vector<double>{1}), 1, 50, {}));
  sum.add(errors_of(stored(f64, std::vector<double>{12}), stored(f64, std::vector<double>{4}), 1, 7, {}));
  sum.add(doubles({no_number}, {1}));
  sum.add({});
  EXPECT_EQ(sum.bits, 3);
  EXPECT_EQ(sum.differing, 3);
  EXPECT_EQ(sum.first, 7);
  EXPECT_EQ(sum.absolute.at, 7) << "the first of equal ones";
  EXPECT_EQ(sum.relative.at, 50);
  EXPECT_EQ(sum.first_one_nan, 100);
}

}  // namespace
}  // namespace penstock::program
