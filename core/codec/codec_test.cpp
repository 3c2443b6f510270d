// Tests of codecs: what they make is never larger, says how it was made, and zlib's method is zlib's.
#include "core/codec/codec.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace penstock {
namespace {

std::vector<std::byte> smooth(size_t count) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = 1.0 + static_cast<double>(i % 100) * 1e-3;
  std::vector<std::byte> bytes(count * sizeof(double));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> noise(size_t count) {
  std::vector<std::byte> bytes(count);
  uint64_t state = 88172645463325252U;
  for (std::byte& b : bytes) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    b = static_cast<std::byte>(state >> 56U);
  }
  return bytes;
}

TEST(Codecs, MakeChunksThatAreNeverLarger) {
  for (const Codec* codec : codecs()) {
    if (!codec->describe().missing.empty()) continue;
    for (const int64_t element_bytes : {1, 2, 4, 8, 16, 12}) {
      const CodecUse use{element_bytes, 0};
      auto encoder = codec->encoder(use);
      ASSERT_TRUE(encoder.ok());
      for (const size_t bytes : {size_t{1}, size_t{7}, size_t{4096}, size_t{100'003}}) {
        std::vector<std::byte> out(bytes + 5, std::byte{42});
        const auto made = (*encoder)->encode(noise(bytes), std::span(out).first(bytes));
        ASSERT_TRUE(made.ok());
        EXPECT_GT(made->bytes, 0);
        EXPECT_LE(made->bytes, static_cast<int64_t>(bytes));
        EXPECT_EQ(out[bytes], std::byte{42});
        EXPECT_LT(made->skipped, 1U << codec->filters(use).size());
      }
    }
  }
}

TEST(Codecs, DeflateMakesSmoothNumbersSmallAndLeavesNoise) {
  const Codec* deflate = find_codec("deflate");
  ASSERT_NE(deflate, nullptr);
  if (!deflate->describe().missing.empty()) GTEST_SKIP() << deflate->describe().missing;
  auto encoder = deflate->encoder({8, 1});
  ASSERT_TRUE(encoder.ok());
  std::vector<std::byte> out(80'000);
  auto made = (*encoder)->encode(smooth(10'000), out);
  EXPECT_EQ(made->skipped, 0U);
  EXPECT_LT(made->bytes, 8'000);
  made = (*encoder)->encode(noise(80'000), out);
  EXPECT_EQ(made->skipped, 2U);  // shuffled, but not deflated
  EXPECT_EQ(made->bytes, 80'000);
  EXPECT_EQ(out[1], noise(80'000)[8]);
  const std::vector<Filter> filters = deflate->filters({8, 7});
  ASSERT_EQ(filters.size(), 2U);
  EXPECT_EQ(filters[0].values, std::vector<unsigned>{8});
  EXPECT_EQ(filters[1].values, std::vector<unsigned>{7});
}

}  // namespace
}  // namespace penstock
