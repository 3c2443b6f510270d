// Tests of LZ4: chunks of several blocks, of other programs and ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "core/codec/codec.hpp"
#include "core/codec/decode.hpp"

namespace penstock {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

Result<std::vector<std::byte>> decode_lz4(const std::vector<std::byte>& chunk) {
  std::vector<std::byte> out;
  PENSTOCK_TRY(find_codec("lz4")->decoders().at(0).decode({chunk, {}, 100}, out));
  return out;
}

TEST(Lz4, DecodesSeveralBlocks) {
  // 10 bytes in blocks of 4: one stored; one of four equal bytes cannot be shorter, so stored; the rest.
  const auto chunk = bytes_of(
      {0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 4, 0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 4, 5, 5, 5, 5, 0, 0, 0, 3, 0x20, 7, 8});
  const auto decoded = decode_lz4(chunk);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(*decoded, bytes_of({1, 2, 3, 4, 5, 5, 5, 5, 7, 8}));
}

TEST(Lz4, RefusesBlocksThatReachBeyondTheChunk) {
  for (const auto& chunk : {bytes_of({0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 1, 2, 3}),      // fewer bytes
                            bytes_of({0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4}),   // blocks of 0
                            bytes_of({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 1, 2, 3, 4}),   // nothing
                            bytes_of({0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0, 4, 1, 2, 3, 4}),   // one block
                            bytes_of({0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 0, 4, 0, 0, 0, 4, 1, 2, 3, 4}),  // many
                            bytes_of({1, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 1, 2, 3, 4})})
    EXPECT_EQ(decode_lz4(chunk).status().code(), Code::damaged);
}

// Five bytes of each are zero, one is noise, and two are the same in all.
std::vector<std::byte> rounded_numbers(size_t count) {
  std::mt19937_64 random(1);
  std::vector<double> values(count);
  for (double& value : values) {
    const double number = 1 + std::uniform_real_distribution<>(0, 1.0 / 16)(random);
    value = std::bit_cast<double>(std::bit_cast<uint64_t>(number) >> 40U << 40U);
  }
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

struct Made {
  std::vector<std::byte> bytes;
  uint32_t skipped = 0;
};

Made encode(const CodecUse& use, std::span<const std::byte> chunk) {
  auto encoder = find_codec("lz4")->encoder(use);
  EXPECT_TRUE(encoder.ok());
  Made made{std::vector<std::byte>(chunk.size()), 0};
  for (int time = 0; time < 2; ++time) {  // encoders are used again
    const auto size = (*encoder)->encode(chunk, made.bytes);
    EXPECT_TRUE(size.ok());
    made.bytes.resize(static_cast<size_t>(size->bytes));
    made.skipped = size->skipped;
    if (time == 0) made.bytes.resize(chunk.size());
  }
  return made;
}

TEST(Lz4, HasABlockForEachByteOfRoundedNumbers) {
  constexpr int64_t block = 20'000;
  const std::vector<std::byte> chunk = rounded_numbers(block);
  const CodecUse use{{Kind::f64}, {block}};
  const Made made = encode(use, chunk);
  EXPECT_EQ(made.skipped, 0U);
  const auto number_at = [&](size_t at) {
    return std::to_integer<size_t>(made.bytes[at]) << 8U | std::to_integer<size_t>(made.bytes[at + 1]);
  };
  EXPECT_EQ(number_at(10), block);
  size_t at = 12, stored = 0;
  for (int i = 0; i < 8; ++i) {
    const size_t bytes = number_at(at + 2);
    EXPECT_LE(bytes, i == 5 ? block : block / 50) << i;
    stored += bytes == block;
    at += 4 + bytes;
  }
  EXPECT_EQ(at, made.bytes.size());
  EXPECT_EQ(stored, 1U) << "noise, as it is";
  DecodingRoom room;
  const auto filters = find_codec("lz4")->filters(use);
  const auto decoded = decode_chunk(filters, made.skipped, made.bytes, std::ssize(chunk), room);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_TRUE(std::ranges::equal(*decoded, chunk));
}

TEST(Lz4, FindsRowsThatRepeatFarAway) {
  constexpr size_t row = 3000, rows = 40;
  const std::vector<std::byte> one = rounded_numbers(row);
  std::vector<std::byte> chunk;
  for (size_t i = 0; i < rows; ++i) chunk.insert(chunk.end(), one.begin(), one.end());
  const Made made = encode({{Kind::f64}, {row * rows}}, chunk);
  EXPECT_LT(made.bytes.size(), chunk.size() / 20) << "an eighth is noise in each row";
}

}  // namespace
}  // namespace penstock
