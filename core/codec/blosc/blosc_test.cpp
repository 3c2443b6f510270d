// Tests of Blosc: bits are shuffled where Blosc does it, else bytes.
#include <gtest/gtest.h>

#include <cmath>

#include "core/codec/codec.hpp"

namespace penstock {
namespace {

TEST(Blosc, ShufflesBytesWhereItWouldLeaveBits) {
  const Codec& blosc = *find_codec("blosc");
  std::vector<double> values(1003);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i) / 100);
  for (const int64_t count : {1000, 1001, 1003}) {
    const CodecUse use{{Kind::f64}, {count}};
    EXPECT_EQ(blosc.filters(use).at(0).values.at(5), count % 8 == 0 ? 2U : 1U);
    auto encoder = blosc.encoder(use);
    ASSERT_TRUE(encoder.ok());
    const auto chunk = std::as_bytes(std::span(values)).first(static_cast<size_t>(count) * sizeof(double));
    std::vector<std::byte> out(chunk.size());
    const auto made = (*encoder)->encode(chunk, out);
    ASSERT_TRUE(made.ok());
    EXPECT_LT(made->bytes, std::ssize(chunk) * 19 / 20);
  }
}

TEST(Blosc, CutsChunksOfMultiplesOfEight) {
  const Codec& blosc = *find_codec("blosc");
  EXPECT_EQ(blosc.chunk_of({"x", {Kind::f64}, {100, 91, 110}}, 900'000), (Dims{8, 91, 110}));
  EXPECT_EQ(blosc.chunk_of({"x", {Kind::f64}, {9, 91, 110}}, 900'000), (Dims{9, 91, 110})) << "all of it";
}

}  // namespace
}  // namespace penstock
