// Tests of codecs: what they make is never larger, says how it was made, and comes back; damage is refused.
#include "core/codec/codec.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "core/codec/shuffle.hpp"

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

constexpr ElementType types[] = {{Kind::u8},         {Kind::i16},     {Kind::f32},      {Kind::f64},
                                 {Kind::complex128}, {Kind::text, 7}, {Kind::text, 300}};

std::vector<const Codec*> built() {
  std::vector<const Codec*> list;
  for (const Codec* codec : codecs())
    if (codec->describe().missing.empty()) list.push_back(codec);
  return list;
}

FilterDecoder decoder_of(const Codec& codec) {
  return codec.decoders().empty() ? FilterDecoder{} : codec.decoders()[0];
}

std::vector<std::byte> unshuffled(std::span<const std::byte> bytes, size_t size) {
  std::vector<std::byte> out(bytes.begin(), bytes.end());
  const size_t count = bytes.size() / size;
  for (size_t i = 0; i < count; ++i)
    for (size_t b = 0; b < size; ++b) out[i * size + b] = bytes[b * count + i];
  return out;
}

// A chunk as it lies in a file.
struct Stored {
  std::vector<Filter> filters;
  std::vector<std::byte> bytes;
  uint32_t skipped = 0;
};

Stored store(const Codec& codec, const CodecUse& use, std::span<const std::byte> chunk) {
  Stored stored{codec.filters(use), {}, 0};
  auto encoder = codec.encoder(use);
  EXPECT_TRUE(encoder.ok());
  stored.bytes.resize(chunk.size());
  const auto made = (*encoder)->encode(chunk, stored.bytes);
  EXPECT_TRUE(made.ok());
  stored.bytes.resize(made.ok() ? static_cast<size_t>(made->bytes) : 0);
  stored.skipped = made.ok() ? made->skipped : 0;
  return stored;
}

// As HDF5 reads it.
Result<std::vector<std::byte>> load(const Codec& codec, const Stored& stored, size_t most) {
  std::vector<std::byte> bytes = stored.bytes;
  for (size_t i = stored.filters.size(); i-- > 0;) {
    const auto& [id, values] = stored.filters[i];
    if ((stored.skipped >> i & 1U) != 0) continue;
    if (id == 2) {
      bytes = unshuffled(bytes, values[0]);
    } else {
      std::vector<std::byte> out;
      PENSTOCK_TRY(decoder_of(codec).decode({bytes, values, most}, out));
      bytes = std::move(out);
    }
  }
  return bytes;
}

TEST(Shuffle, IsUndone) {
  for (const size_t size : {2, 3, 4, 8, 16, 300})
    for (const size_t count : {0, 1, 63, 64, 65, 5'000}) {
      const std::vector<std::byte> chunk = noise(count * size + size - 1);
      Shuffle shuffle(static_cast<int64_t>(size));
      const auto shuffled = shuffle(chunk);
      EXPECT_EQ(unshuffled(shuffled, size), chunk) << size << ' ' << count;
      std::vector<std::byte> out(7, std::byte{42});
      unshuffle(shuffled, size, out);
      EXPECT_EQ(out, chunk) << size << ' ' << count;
    }
}

TEST(Codecs, MakeChunksThatAreNeverLarger) {
  for (const Codec* codec : built())
    for (const ElementType& type : types)
      for (const int64_t count : {1, 2, 7, 512, 12'503}) {
        const CodecUse use{type, {count}};
        const auto size = static_cast<size_t>(count * bytes(type));
        if (!codec->takes(type, {count})) continue;
        auto encoder = codec->encoder(use);
        ASSERT_TRUE(encoder.ok());
        std::vector<std::byte> out(size + 5, std::byte{42});
        const auto made = (*encoder)->encode(noise(size), std::span(out).first(size));
        ASSERT_TRUE(made.ok());
        EXPECT_GT(made->bytes, 0);
        EXPECT_LE(made->bytes, static_cast<int64_t>(size));
        EXPECT_EQ(out[size], std::byte{42});
        EXPECT_LT(made->skipped, 1U << codec->filters(use).size());
      }
}

TEST(Codecs, DecodeWhatTheyHaveEncoded) {
  for (const Codec* codec : built()) {
    if (decoder_of(*codec).decode == nullptr) continue;
    for (const ElementType& type : types)
      for (const int64_t count : {1, 2, 7, 512, 12'503})
        for (const bool is_smooth : {true, false}) {
          const CodecUse use{type, {count}};
          if (!codec->takes(type, use.chunk)) continue;
          const auto size = static_cast<size_t>(count * bytes(type));
          std::vector<std::byte> chunk = is_smooth ? smooth(size / 8 + 1) : noise(size);
          chunk.resize(size);
          const Stored stored = store(*codec, use, chunk);
          if (is_smooth && type.kind == Kind::f64 && count > 1000) {
            EXPECT_LT(stored.bytes.size(), size) << codec->describe().name;
          }
          const auto loaded = load(*codec, stored, size);
          ASSERT_TRUE(loaded.ok()) << codec->describe().name << ", " << name(type) << ", " << count;
          EXPECT_EQ(*loaded, chunk) << codec->describe().name << ", " << name(type) << ", " << count;
        }
  }
}

TEST(Codecs, RefuseToDecodeMoreThanAChunk) {
  for (const Codec* codec : built()) {
    if (decoder_of(*codec).decode == nullptr) continue;
    const std::vector<std::byte> chunk = smooth(4096);
    const Stored stored = store(*codec, {{Kind::f64}, {4096}}, chunk);
    ASSERT_EQ(stored.skipped, 0U);
    EXPECT_EQ(load(*codec, stored, chunk.size() - 1).status().code(), Code::damaged) << codec->describe().name;
  }
}

// What they make of damage is an error or other bytes of a chunk, with no access outside of what is theirs (make asan).
TEST(Codecs, SurviveDamagedChunks) {
  for (const Codec* codec : built()) {
    if (decoder_of(*codec).decode == nullptr) continue;
    const std::vector<std::byte> chunk = smooth(704);
    const Stored stored = store(*codec, {{Kind::f64}, {8, 8, 11}, 0, 1e-6}, chunk);
    ASSERT_EQ(stored.skipped, 0U) << codec->describe().name;
    const auto check = [&](const Stored& damaged) {
      const auto loaded = load(*codec, damaged, 2 * chunk.size());
      if (loaded.ok()) {
        EXPECT_LE(loaded->size(), 2 * chunk.size()) << codec->describe().name;
      } else {
        EXPECT_EQ(loaded.status().code(), Code::damaged) << codec->describe().name;
      }
      return loaded.ok();
    };
    for (size_t size = 0; size < stored.bytes.size(); size += 7) {
      Stored cut = stored;
      cut.bytes.resize(size);
      EXPECT_FALSE(check(cut)) << codec->describe().name << " takes " << size << " of " << stored.bytes.size();
    }
    const std::vector<std::byte> random = noise(9 * 2000);
    for (size_t i = 0; i < 2000; ++i) {
      Stored flipped = stored;
      uint64_t word;
      std::memcpy(&word, random.data() + 9 * i, sizeof word);
      const size_t near = i % 2 == 0 ? 32 : flipped.bytes.size();  // headers more often
      flipped.bytes[word % std::min(near, flipped.bytes.size())] ^= random[9 * i + 8];
      if (i % 5 == 0) {
        std::vector<unsigned>& values = flipped.filters.back().values;
        values[word % values.size()] ^= 1U << (word >> 40U) % 32;
      }
      (void)check(flipped);
    }
  }
}

TEST(Codecs, DeflateMakesSmoothNumbersSmallAndLeavesNoise) {
  const Codec* deflate = find_codec("deflate");
  ASSERT_NE(deflate, nullptr);
  if (!deflate->describe().missing.empty()) GTEST_SKIP() << deflate->describe().missing;
  const CodecUse use{{Kind::f64}, {10'000}, 1};
  const Stored small = store(*deflate, use, smooth(10'000));
  EXPECT_EQ(small.skipped, 0U);
  EXPECT_LT(small.bytes.size(), 8'000U);
  const Stored large = store(*deflate, use, noise(80'000));
  EXPECT_EQ(large.skipped, 2U);  // shuffled, but not deflated
  EXPECT_EQ(large.bytes.size(), 80'000U);
  EXPECT_EQ(large.bytes[1], noise(80'000)[8]);
  const std::vector<Filter> filters = deflate->filters({{Kind::f64}, {10'000}, 7});
  ASSERT_EQ(filters.size(), 2U);
  EXPECT_EQ(filters[0].values, std::vector<unsigned>{8});
  EXPECT_EQ(filters[1].values, std::vector<unsigned>{7});
}

}  // namespace
}  // namespace penstock
