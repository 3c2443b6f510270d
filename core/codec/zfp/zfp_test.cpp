// Tests of zfp: the bound is kept for any numbers, the values of the filter are H5Z-ZFP's, and chunks suit its blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/codec/codec.hpp"

namespace penstock {
namespace {

const Codec& zfp() { return *find_codec("zfp"); }

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <typename T>
struct Outcome {
  size_t bytes = 0;
  bool skipped = false;
  std::vector<T> read;  // what readers see
};

// Through the decoder, which must agree with what the encoder says.
template <typename T>
Outcome<T> through(const std::vector<T>& values, const Dims& chunk, double max_error) {
  const CodecUse use{type_of<T>(), chunk, 0, max_error};
  auto encoder = zfp().encoder(use);
  EXPECT_TRUE(encoder.ok());
  std::vector<std::byte> out(values.size() * sizeof(T));
  const auto made = (*encoder)->encode(bytes_of(values), out);
  EXPECT_TRUE(made.ok());
  out.resize(static_cast<size_t>(made->bytes));
  Outcome<T> outcome{out.size(), made->skipped == 1, values};
  const auto changed = (*encoder)->changed();
  if (!outcome.skipped) {
    std::vector<std::byte> decoded;
    EXPECT_TRUE(
        zfp().decoders().at(0).decode({out, zfp().filters(use).at(0).values, values.size() * sizeof(T)}, decoded).ok());
    EXPECT_EQ(changed.empty(), max_error == 0);
    EXPECT_TRUE(changed.empty() || std::ranges::equal(changed, decoded));
    std::memcpy(outcome.read.data(), decoded.data(), decoded.size());
  } else {
    EXPECT_EQ(out.size(), values.size() * sizeof(T));
    EXPECT_TRUE(changed.empty());
  }
  return outcome;
}

template <typename T>
void check_bounds() {
  std::mt19937_64 random(1);
  for (const Dims& chunk : {Dims{64}, Dims{8, 12}, Dims{5, 6, 7}, Dims{4, 1, 8, 16}, Dims{3, 4, 5, 6}, Dims{1, 5, 1}}) {
    std::vector<T> values(static_cast<size_t>(elements(chunk)));
    for (const double scale : {0.0, 1e-30, 1.0, 1e9, 1e30}) {
      for (T& value : values) value = static_cast<T>(scale * std::normal_distribution<>()(random));
      for (const double max_error : {0.0, 1e-300, 1e-12, 1e-3, 1.0, 1e6, 1e35}) {
        const auto outcome = through(values, chunk, max_error);
        for (size_t i = 0; i < values.size(); ++i)
          ASSERT_LE(std::abs(static_cast<double>(outcome.read[i]) - static_cast<double>(values[i])), max_error);
      }
    }
  }
}

TEST(Zfp, KeepsTheBoundOfFloats) { check_bounds<float>(); }
TEST(Zfp, KeepsTheBoundOfDoubles) { check_bounds<double>(); }

TEST(Zfp, MakesSmoothNumbersSmall) {
  std::vector<double> values(32 * 32 * 32);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 300 + 20 * std::sin(static_cast<double>(i % 32) / 20) * std::cos(static_cast<double>(i / 1024) / 30);
  const size_t all = values.size() * sizeof(double);
  EXPECT_LT(through(values, {32, 32, 32}, 1e-2).bytes, all / 20);
  EXPECT_LT(through(values, {32, 32, 32}, 1e-6).bytes, all / 6);
  EXPECT_LT(through(values, {32, 32, 32}, 0).bytes, all);
}

TEST(Zfp, LeavesWhatIsNotFinite) {
  using limits = std::numeric_limits<double>;
  for (const double odd : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()}) {
    std::vector<double> values(64, 1.5);
    values[17] = odd;
    EXPECT_TRUE(through(values, {64}, 1e-3).skipped);
    const auto exact = through(values, {64}, 0);
    EXPECT_EQ(std::memcmp(exact.read.data(), values.data(), 64 * sizeof(double)), 0);
  }
}

TEST(Zfp, KeepsEveryBitWithoutABound) {
  std::mt19937_64 random(2);
  std::vector<double> values(4096);
  for (double& value : values) {
    const uint64_t bits = random() & 0x8000'0000'ffff'ffff;  // signs and denormal numbers
    std::memcpy(&value, &bits, sizeof value);
  }
  const auto outcome = through(values, {16, 16, 16}, 0);
  EXPECT_EQ(std::memcmp(outcome.read.data(), values.data(), values.size() * sizeof(double)), 0);
}

TEST(Zfp, HasTheFiltersValues) {
  // As hdf5plugin 7.1 writes them, behind the word of versions, for chunks of 10 x 16 and 10 x 16 x 12 doubles.
  const auto values = [](const Dims& chunk, double max_error) {
    std::vector<unsigned> all = zfp().filters({{Kind::f64}, chunk, 0, max_error}).at(0).values;
    all.erase(all.begin());
    return all;
  };
  EXPECT_EQ(values({10, 16, 1}, 1e-3), (std::vector<unsigned>{0x570667a, 0x900000f7, 0xca900000}));
  EXPECT_EQ(values({10, 16, 12}, 0), (std::vector<unsigned>{0x570667a, 0xf000bb, 0x88000090}));
}

TEST(Zfp, KnowsTheBoundOfItsFilters) {
  const auto filters = [](double max_error) { return zfp().filters({{Kind::f32}, {64}, 0, max_error}); };
  EXPECT_EQ(zfp().max_error(filters(0)), 0.0);
  EXPECT_EQ(zfp().max_error(filters(0.25)), 0.25);
  EXPECT_EQ(zfp().max_error(filters(0.3)), 0.25);
  EXPECT_EQ(zfp().max_error(std::vector<Filter>{{32013, {0x10105111, 0x570667a, 0xf000bb, 0x1ff00090}}}), std::nullopt);
  EXPECT_EQ(zfp().max_error(std::vector<Filter>{{32013, {1, 2, 3}}}), std::nullopt);
  EXPECT_EQ(zfp().max_error(std::vector<Filter>{{32015, {3}}}), std::nullopt);
}

TEST(Zfp, CutsChunksThatSuitItsBlocks) {
  const auto chunk = [](const Dims& shape, int64_t bytes) {
    const Dims extents = zfp().chunk_of({"x", {Kind::f64}, shape}, bytes);
    EXPECT_TRUE(zfp().takes({Kind::f64}, extents));
    EXPECT_LE(elements(extents) * 8, bytes);
    return extents;
  };
  EXPECT_EQ(chunk({1000, 1000, 1000}, 1 << 20), (Dims{4, 32, 1000}));
  EXPECT_EQ(chunk({5000, 100'000}, 1 << 20), (Dims{32, 4096}));
  EXPECT_EQ(chunk({10'000'000}, 1 << 20), Dims{131'072});
  EXPECT_EQ(chunk({100, 1000}, 64), (Dims{1, 8}));
  EXPECT_EQ(chunk({2, 3, 4, 5, 6, 7, 8}, 1 << 20), (Dims{1, 1, 1, 5, 6, 7, 8}));
  EXPECT_EQ(chunk({9, 1, 1}, 1 << 20), (Dims{9, 1, 1}));
}

TEST(Zfp, TakesNothingElse) {
  EXPECT_FALSE(zfp().takes({Kind::i32}, {64}));
  EXPECT_FALSE(zfp().takes({Kind::complex64}, {64}));
  EXPECT_FALSE(zfp().takes({Kind::f32}, {1, 1}));
  EXPECT_FALSE(zfp().takes({Kind::f32}, {2, 2, 2, 2, 2}));
  EXPECT_FALSE(zfp().takes({Kind::f32}, {4, 4, 65'537}));
}

}  // namespace
}  // namespace penstock
