// Tests of LZ4: chunks of several blocks, as other programs write them.
#include <gtest/gtest.h>

#include "core/codec/codec.hpp"

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

}  // namespace
}  // namespace penstock
