// Tests of aggregation: any order of runs gives the correct file, in bounded memory and few calls; strips round-trip.
#include "core/transport/servers/aggregate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/transport/servers/strips.hpp"

namespace penstock {
namespace {

using Random = std::mt19937_64;
using Bytes = std::vector<std::byte>;

int64_t draw(Random& random, int64_t below) { return static_cast<int64_t>(random() % static_cast<uint64_t>(below)); }

// In-memory files that count writes, with their positions.
struct Files {
  std::map<int64_t, Bytes> bytes;
  std::map<int64_t, Bytes> touched;
  int64_t calls = 0;

  Status write(int64_t part, int64_t offset, std::span<const std::byte> run) {
    ++calls;
    if (run.empty()) return {};
    for (auto* file : {&bytes[part], &touched[part]})
      file->resize(std::max(file->size(), static_cast<size_t>(offset) + run.size()));
    std::copy(run.begin(), run.end(), bytes[part].begin() + offset);
    std::fill_n(touched[part].begin() + offset, run.size(), std::byte{1});
    return {};
  }
  Aggregator::Write writer() {
    return [this](int64_t part, int64_t offset, std::span<const std::byte> run) { return write(part, offset, run); };
  }
};

Bytes made(Random& random, int64_t length) {
  Bytes bytes(static_cast<size_t>(length));
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

TEST(Aggregator, AnyOrderOfAnyRunsGivesTheSameFile) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const int64_t buffer = 4096 << draw(random, 12);
    Files expected, found;
    Aggregator aggregator(found.writer(), buffer);
    const int64_t longest = int64_t{1} << (1 + draw(random, 18));
    for (int64_t n = 1 + draw(random, 400); n > 0; --n) {
      const int64_t part = draw(random, 3), offset = draw(random, 1 << 20);
      const Bytes run = made(random, draw(random, longest));
      (void)expected.write(part, offset, run);
      ASSERT_TRUE(aggregator.put(part, offset, run).ok());
    }
    ASSERT_TRUE(aggregator.flush().ok());
    for (const auto& [part, file] : expected.bytes) {
      EXPECT_TRUE(file == found.bytes[part]) << "seed " << seed;
      EXPECT_TRUE(expected.touched[part] == found.touched[part]) << "bytes that nobody put, seed " << seed;
    }
    EXPECT_LE(aggregator.peak_buffered(), std::max<int64_t>(buffer, 2 * cache_block_bytes(buffer))) << "seed " << seed;
  }
}

TEST(Aggregator, ColumnsBecomeWholeBlocks) {
  constexpr int64_t rows = 4096, row = 1024, column = 16;
  Files files;
  Aggregator aggregator(files.writer(), 64 << 20);
  Random random(1);
  for (int64_t c = 0; c < row; c += column)
    for (int64_t r = 0; r < rows; ++r) ASSERT_TRUE(aggregator.put(0, r * row + c, made(random, column)).ok());
  ASSERT_TRUE(aggregator.flush().ok());
  EXPECT_EQ(files.calls, rows * row / cache_block_bytes(64 << 20));
}

TEST(Aggregator, LongRunsAreNotCopiedNorCut) {
  Files files;
  Aggregator aggregator(files.writer(), 64 << 20);
  Random random(1);
  ASSERT_TRUE(aggregator.put(0, 8192, made(random, 16 << 20)).ok());
  EXPECT_EQ(files.calls, 1);
  EXPECT_EQ(aggregator.peak_buffered(), 0);
}

TEST(Aggregator, AFailedWriteIsReported) {
  Aggregator aggregator([](int64_t, int64_t, std::span<const std::byte>) { return Status(Code::no_space, "full"); },
                        1 << 20);
  const Bytes run(100);
  ASSERT_TRUE(aggregator.put(0, 5, run).ok());
  EXPECT_EQ(aggregator.flush().code(), Code::no_space);
  EXPECT_TRUE(aggregator.flush().ok()) << "what failed is not tried for ever";
}

TEST(BlockCache, ReadsBlocksOnceAndReturnsAnyRun) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const Bytes file = made(random, 1 + draw(random, 1 << 20));
    const auto size = static_cast<int64_t>(file.size());
    int64_t read = 0;
    const int64_t buffer = seed % 2 == 0 ? 64 << 20 : 32 << 10;
    BlockCache cache(
        [&](int64_t, int64_t offset, std::span<std::byte> to) -> Status {
          if (offset + static_cast<int64_t>(to.size()) > size) return {Code::damaged, "beyond the end"};
          std::copy_n(file.begin() + offset, to.size(), to.begin());
          read += static_cast<int64_t>(to.size());
          return {};
        },
        [&](int64_t) -> Result<int64_t> { return size; }, buffer);
    for (int i = 0; i < 300; ++i) {
      const int64_t offset = draw(random, size), length = draw(random, std::min<int64_t>(size - offset, 5000) + 1);
      Bytes run(static_cast<size_t>(length));
      ASSERT_TRUE(cache.get(0, offset, run).ok());
      ASSERT_TRUE(std::equal(run.begin(), run.end(), file.begin() + offset)) << "seed " << seed;
    }
    Bytes beyond(2);
    EXPECT_EQ(cache.get(0, size - 1, beyond).code(), Code::damaged);
    EXPECT_TRUE(buffer <= size || read <= size) << "a block was read twice";
  }
}

TEST(Strips, ComeBackAsTheyWere) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    struct Place {
      int64_t part, offset;
      bool operator==(const Place&) const = default;
    };
    std::vector<Place> expected, found;
    StripWriter writer;
    int64_t offset = 0, part = 0;
    for (int64_t n = draw(random, 300); n > 0; --n) {
      const int64_t kind = draw(random, 10), length = kind < 6 ? 7 : 1 + draw(random, 50);
      if (kind == 9) part = draw(random, 4);
      offset = kind == 8 ? draw(random, int64_t{1} << 60) : offset + (kind < 5 ? 64 : draw(random, 80));
      writer.add(part, offset, length);
      for (int64_t i = 0; i < length; ++i) expected.push_back({part, offset + i});
      EXPECT_GE(writer.max_bytes(), 0);
    }
    const int64_t most = writer.max_bytes();
    const Bytes bytes = writer.take();
    EXPECT_LE(static_cast<int64_t>(bytes.size()), most);
    StripReader reader(bytes);
    for (Strip s; reader.next(s);)
      for (int64_t i = 0; i < s.count; ++i)
        for (int64_t k = 0; k < s.length; ++k) found.push_back({s.part, s.offset + i * s.step + k});
    EXPECT_TRUE(reader.ok());
    EXPECT_TRUE(expected == found) << "seed " << seed;
    if (bytes.size() > 1) {
      StripReader cut(std::span<const std::byte>(bytes).first(bytes.size() - 1));
      for (Strip s; cut.next(s);) {
      }
      EXPECT_FALSE(cut.ok());
    }
  }
}

TEST(Strips, ABoxTakesAFewBytes) {
  StripWriter writer;
  for (int64_t row = 0; row < 100000; ++row) writer.add(0, row * 8192, 800);
  EXPECT_LT(writer.take().size(), 20U);
}

}  // namespace
}  // namespace penstock
