// Tests of Precision: rounding, narrowing and packing against what each value must become.
#include "core/model/precision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace penstock {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <typename To, typename From>
std::vector<To> stored(const Precision& precision, const std::vector<From>& in, Loss* loss = nullptr) {
  const auto type = stored_type(precision, type_of<From>());
  EXPECT_TRUE(type.ok()) << type.status().message();
  EXPECT_EQ(bytes(*type), static_cast<int64_t>(sizeof(To)));
  std::vector<To> out(in.size());
  Loss counted;
  convert(precision, type_of<From>(), reinterpret_cast<const std::byte*>(in.data()),
          reinterpret_cast<std::byte*>(out.data()), std::ssize(in), counted);
  if (loss != nullptr) *loss = counted;
  return out;
}

std::string refusal(const Precision& precision, const ElementType& given) {
  const auto type = stored_type(precision, given);
  EXPECT_FALSE(type.ok());
  return type.ok() ? "" : type.status().message();
}

TEST(Precision, RoundsMantissasToNearestAndTiesToEven) {
  const Precision bits{.keep_bits = 2};
  EXPECT_EQ((stored<double, double>(bits, {1.0, 1.125, 1.126, 1.375, 1.37, -1.375, 1.875, 0.0})),
            (std::vector<double>{1.0, 1.0, 1.25, 1.5, 1.25, -1.5, 2.0, 0.0}));
  EXPECT_EQ((stored<float, float>(bits, {1.125F, 1.375F, 5.1F})), (std::vector<float>{1.0F, 1.5F, 5.0F}));
}

TEST(Precision, KeepsWhatIsNotFiniteAndMakesNothingInfinite) {
  const auto out =
      stored<double, double>({.keep_bits = 3}, {infinity, -infinity, nan, std::numeric_limits<double>::max()});
  EXPECT_EQ(out[0], infinity);
  EXPECT_EQ(out[1], -infinity);
  EXPECT_TRUE(std::isnan(out[2]));
  EXPECT_TRUE(std::isfinite(out[3]));
}

// Many at once are rounded in vectors, as long as all of them are finite and stay so.
template <typename Float, typename Word>
void many_as_single_ones(int special) {
  std::mt19937_64 random(3);
  std::vector<Float> in(3 * 2048 + 5);
  for (size_t i = 0; i < in.size(); ++i) {
    const auto word = static_cast<Word>(random());
    std::memcpy(&in[i], &word, sizeof word);
    if (special == 0 && (!std::isfinite(in[i]) || std::abs(in[i]) > std::numeric_limits<Float>::max() / 2))
      in[i] = 1.7F;
  }
  if (special == 2) in[2048 + 7] = std::numeric_limits<Float>::max();
  const auto out = stored<Float, Float>({.keep_bits = 9}, in);
  for (size_t i = 0; i < in.size(); ++i) {
    const Float alone = stored<Float, Float>({.keep_bits = 9}, {in[i]})[0];
    ASSERT_EQ(std::memcmp(&out[i], &alone, sizeof alone), 0) << i;
  }
}

TEST(Precision, RoundsManyAsItRoundsSingleNumbers) {
  for (const int special : {0, 1, 2}) {
    many_as_single_ones<double, uint64_t>(special);
    many_as_single_ones<float, uint32_t>(special);
  }
}

TEST(Precision, RelativeErrorIsBelowHalfOfTheLastBit) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> values(0, 30);
  std::vector<double> in(100000);
  for (double& value : in) value = values(random) * (random() % 2 == 0 ? 1 : -1);
  for (const int bits : {1, 9, 23, 40, 52}) {
    const auto out = stored<double, double>({.keep_bits = bits}, in);
    const double bound = std::ldexp(1.0, -bits - 1);
    double worst = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      worst = std::max(worst, std::abs(out[i] - in[i]) / std::abs(in[i]));
      uint64_t word = 0;
      std::memcpy(&word, &out[i], sizeof word);
      ASSERT_EQ(bits == 52 ? 0 : word << (12 + bits), 0) << "bits that should be zero";
    }
    EXPECT_LE(worst, bound);
    if (bits < 50) {
      EXPECT_GT(worst, bound / 2) << "fewer bits would do";
    }
  }
}

TEST(Precision, NarrowsAndCountsWhatOverflows) {
  Loss loss;
  const Precision single{.type = ElementType{Kind::f32}};
  const auto out = stored<float, double>(single, {0.1, 1e300, -1e39, infinity, nan, 1e-60}, &loss);
  EXPECT_EQ(out[0], 0.1F);
  EXPECT_EQ(out[1], std::numeric_limits<float>::infinity());
  EXPECT_EQ(out[2], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(out[3], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(out[4]));
  EXPECT_EQ(out[5], 0.0F);
  EXPECT_EQ(loss.overflowed, 2);
  EXPECT_EQ(loss.nan, 0) << "a float holds it";
  const Precision few{.type = ElementType{Kind::f32}, .keep_bits = 4};
  EXPECT_EQ((stored<float, double>(few, {1.03125 + 1e-12})), (std::vector<float>{1.0625F})) << "rounded once";
}

TEST(Precision, NarrowsIntegersToTheNearestThatIsThere) {
  Loss loss;
  const Precision bytes_only{.type = ElementType{Kind::i8}};
  EXPECT_EQ((stored<int8_t, int64_t>(bytes_only, {5, -128, 127, 300, INT64_MIN}, &loss)),
            (std::vector<int8_t>{5, -128, 127, 127, -128}));
  EXPECT_EQ(loss.overflowed, 2);
  EXPECT_EQ((stored<uint8_t, int32_t>({.type = ElementType{Kind::u8}}, {-1, 255, 256}, &loss)),
            (std::vector<uint8_t>{0, 255, 255}));
  EXPECT_EQ(loss.overflowed, 2);
  EXPECT_TRUE(attributes_of(bytes_only, type_of<int64_t>()).empty());
}

TEST(Precision, PacksAsConventionsSay) {
  Loss loss;
  const Precision packed{.type = ElementType{Kind::i16}, .packed = true, .scale = 0.01, .offset = 273.15};
  EXPECT_EQ((stored<int16_t, double>(packed, {273.15, 274.154, 0, nan, 1e9, -1e9}, &loss)),
            (std::vector<int16_t>{0, 100, -27315, INT16_MIN, INT16_MAX, -INT16_MAX}));
  EXPECT_EQ(loss.overflowed, 2);
  EXPECT_EQ(loss.nan, 1);
  const auto attributes = attributes_of(packed, type_of<double>());
  ASSERT_EQ(attributes.size(), 3U);
  EXPECT_EQ(attributes[0].name, "scale_factor");
  EXPECT_EQ(attributes[1].name, "add_offset");
  EXPECT_EQ(attributes[2].name, "_FillValue");
  EXPECT_EQ(attributes[2].type, ElementType{Kind::i16});
}

TEST(Precision, WideIntegersEndWhereTheyEnd) {
  Loss loss;
  EXPECT_EQ((stored<int64_t, double>({.type = ElementType{Kind::i64}}, {9.3e18, -9.3e18, 3.5, 4.5}, &loss)),
            (std::vector<int64_t>{INT64_MAX, -INT64_MAX, 4, 4}));
  EXPECT_EQ((stored<uint64_t, double>({.type = ElementType{Kind::u64}}, {2e19, -1, 7, nan}, &loss)),
            (std::vector<uint64_t>{UINT64_MAX - 1, 0, 7, UINT64_MAX}));
}

TEST(Precision, ComplexNumbersAreTwoParts) {
  using Pair = std::complex<double>;
  const auto out = stored<std::complex<float>, Pair>({.type = ElementType{Kind::complex64}}, {Pair(0.1, 1e300)});
  EXPECT_EQ(out[0].real(), 0.1F);
  EXPECT_TRUE(std::isinf(out[0].imag()));
}

TEST(Precision, MoreElementsThanAWindow) {
  std::vector<double> in(5000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i);
  const auto out = stored<float, double>({.type = ElementType{Kind::f32}}, in);
  for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], static_cast<float>(i));
}

TEST(Precision, SaysWhatCannotBe) {
  const ElementType f64{Kind::f64}, i32{Kind::i32}, text{Kind::text, 8}, complex{Kind::complex128};
  EXPECT_NE(refusal({.keep_bits = 9}, i32).find("no mantissa"), std::string::npos);
  EXPECT_NE(refusal({.type = i32, .keep_bits = 9}, f64).find("i32 has no mantissa"), std::string::npos);
  EXPECT_NE(refusal({.type = ElementType{Kind::f32}, .keep_bits = 30}, f64).find("f32 has 23 bits"), std::string::npos);
  EXPECT_NE(refusal({.type = f64}, text).find("texts stay"), std::string::npos);
  EXPECT_NE(refusal({.type = f64}, complex).find("real or the imaginary"), std::string::npos);
  EXPECT_NE(refusal({.packed = true}, complex).find("real numbers"), std::string::npos);
}

TEST(Precision, WhatChangesNothingIsNoConversion) {
  const ElementType f64{Kind::f64}, f32{Kind::f32};
  EXPECT_FALSE(converts({}, f64));
  EXPECT_FALSE(converts({.type = f64}, f64));
  EXPECT_FALSE(converts({.keep_bits = 52}, f64));
  EXPECT_TRUE(converts({.keep_bits = 22}, f32));
  EXPECT_EQ(describe({.type = f32, .keep_bits = 9}, f64), "f64 kept to 9 bits of the mantissa");
  EXPECT_EQ(describe({}, f64), "");
}

}  // namespace
}  // namespace penstock
