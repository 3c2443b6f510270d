// Property tests of checksums: block sums do not depend on the distribution of elements or their layout in memory.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/crc64.hpp"
#include "core/model/checksums.hpp"
#include "core/model/testing.hpp"

namespace penstock {
namespace {

using testing::draw;
using testing::Random;
using testing::random_boxes;

std::vector<std::byte> random_bytes(Random& random, int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

std::vector<std::vector<penstock::Run>> random_runs(Random& random, int64_t count) {
  std::vector<std::vector<penstock::Run>> of(3);
  for (int64_t at = 0; at < count;) {
    const int64_t length = std::min(count - at, 1 + draw(random, draw(random, 4) == 0 ? 100000 : 20));
    of[static_cast<size_t>(draw(random, 3))].push_back({at, length});
    at += length;
  }
  return of;
}

struct Held {
  Selection selection;
  std::vector<std::byte> memory;
};

// The elements of WHERE from DATA, scattered in memory as a selection permits.
Held hold(Random& random, const Dims& shape, const Box& box, const std::vector<std::byte>& data, int64_t size) {
  Memory memory{draw(random, 3), {}};
  int64_t step = 1 + draw(random, 2);
  Dims stride = Dims::filled(shape.rank(), 0);
  const bool reversed = draw(random, 2) == 0;  // the first dimension the fastest, as in Fortran
  for (int k = 0; k < shape.rank(); ++k) {
    const int i = reversed ? k : shape.rank() - 1 - k;
    stride[i] = step;
    step *= box.count[i] + draw(random, 3);  // ghost cells
  }
  memory.stride = stride;
  Held held{Selection::of_box(shape, box, memory), {}};
  held.memory.resize(static_cast<size_t>((step + memory.offset + 1) * size));
  Cursor cursor(held.selection);
  for (Segment s; cursor.next(s);)
    for (int64_t i = 0; i < s.length; ++i)
      std::copy_n(data.begin() + (s.offset + i) * size, size, held.memory.begin() + (s.memory + i * s.stride) * size);
  return held;
}

std::vector<uint64_t> direct_sums(const Dataset& dataset, const BlockCut& cut, std::span<const std::byte> data) {
  std::vector<uint64_t> sums;
  for (int64_t i = 0, at = 0; i < cut.count; at += block_bytes(dataset, cut, i++))
    sums.push_back(crc64(data.subspan(static_cast<size_t>(at), static_cast<size_t>(block_bytes(dataset, cut, i)))));
  return sums;
}

void finish(const Dataset& dataset, const BlockCut& cut, std::vector<uint64_t>& sums) {
  for (int64_t i = 0; i < cut.count; ++i)
    sums[static_cast<size_t>(i)] = crc64_from_linear(sums[static_cast<size_t>(i)], block_bytes(dataset, cut, i));
}

TEST(Checksums, DoNotDependOnWhoHasWhat) {
  Random random(20261122);
  const ElementType types[] = {{Kind::f64}, {Kind::u8}, {Kind::f32}, {Kind::complex128}, {Kind::text, 12}};
  for (int round = 0; round < 40; ++round) {
    const ElementType type = types[round % 5];
    const int64_t size = bytes(type), target = (2 << 20) / size + draw(random, 100000);
    Dims shape;
    for (int64_t rank = 1 + draw(random, 3), left = target; shape.rank() < rank;) {
      const int64_t extent = shape.rank() + 1 == rank ? left : 1 + draw(random, 200);
      shape.push_back(std::max<int64_t>(1, extent));
      left = std::max<int64_t>(1, left / extent);
    }
    const Dataset dataset{"x", type, shape};
    const BlockCut cut = cut_blocks({{dataset}, {}})[0];
    ASSERT_GE(cut.count, 2);
    const std::vector<std::byte> data = random_bytes(random, bytes(dataset));
    std::vector<uint64_t> sums(static_cast<size_t>(cut.count));
    if (round % 2 == 0) {
      for (const Box& box : random_boxes(random, shape)) {
        const Held held = hold(random, shape, box, data, size);
        add_to_sums(held.selection, held.memory.data(), size, cut, sums);
      }
    } else {
      for (std::vector<penstock::Run>& runs : random_runs(random, elements(shape))) {
        std::vector<std::byte> packed;
        std::ranges::shuffle(runs, random);
        for (const penstock::Run& run : runs)
          packed.insert(packed.end(), data.begin() + run.offset * size,
                        data.begin() + (run.offset + run.length) * size);
        add_to_sums(Selection::of_runs(shape, runs), packed.data(), size, cut, sums);
      }
    }
    finish(dataset, cut, sums);
    ASSERT_EQ(sums, direct_sums(dataset, cut, data)) << "round " << round;
  }
}

TEST(Checksums, WhatNobodyHasIsZeros) {
  Random random(1);
  const Dataset dataset{"x", {Kind::f64}, Dims{400000}};
  const BlockCut cut = cut_blocks({{dataset}, {}})[0];
  std::vector<std::byte> data = random_bytes(random, bytes(dataset));
  std::fill(data.begin() + int64_t{1000} * 8, data.begin() + int64_t{300000} * 8, std::byte{0});
  std::vector<uint64_t> sums(static_cast<size_t>(cut.count));
  const penstock::Run runs[] = {{0, 1000}, {300000, 100000}};
  std::vector<std::byte> packed(data.begin(), data.begin() + 8000);
  packed.insert(packed.end(), data.begin() + 2400000, data.end());
  add_to_sums(Selection::of_runs(dataset.shape, runs), packed.data(), 8, cut, sums);
  finish(dataset, cut, sums);
  EXPECT_EQ(sums, direct_sums(dataset, cut, data));
}

// Three datasets share each of two ranks' lists of short runs, in several blocks; what no rank has is zeros.
TEST(Checksums, ShortRunsAreSummedForManyDatasets) {
  Random random(20261127);
  for (const Kind kind : {Kind::u8, Kind::i16, Kind::f32, Kind::f64}) {
    const int64_t size = bytes(ElementType{kind}), n = (3 << 20) / size + 5;
    const Dataset dataset{"x", {kind}, Dims{n}};
    const BlockCut cut = cut_blocks({{dataset}, {}})[0];
    ASSERT_EQ(cut.count, 4);
    std::vector<penstock::Run> runs[2];
    for (int64_t at = draw(random, 3); at < n;) {
      const int64_t length = std::min<int64_t>(n - at, 1 + draw(random, 2));
      runs[draw(random, 2)].push_back({at, length});
      at += length + draw(random, 60 / size);
    }
    BlockSummer summers[2];
    Selection lists[2];
    for (int rank = 0; rank < 2; ++rank) {
      std::ranges::shuffle(runs[rank], random);
      lists[rank] = Selection::of_runs(dataset.shape, runs[rank]);
    }
    for (int which = 0; which < 3; ++which) {
      std::vector<std::byte> data(static_cast<size_t>(bytes(dataset)));
      std::vector<uint64_t> sums(static_cast<size_t>(cut.count));
      for (int rank = 0; rank < 2; ++rank) {
        std::vector<std::byte> packed = random_bytes(random, lists[rank].count() * size);
        int64_t from = 0;
        for (const penstock::Run& run : runs[rank]) {
          std::copy_n(packed.begin() + from, run.length * size, data.begin() + run.offset * size);
          from += run.length * size;
        }
        summers[rank].add(lists[rank], packed.data(), size, cut, sums);
      }
      finish(dataset, cut, sums);
      ASSERT_EQ(sums, direct_sums(dataset, cut, data)) << size << " bytes, dataset " << which;
    }
  }
}

TEST(Checksums, LongTextsMayLieApartInMemory) {
  Random random(7);
  const Dataset dataset{"x", {Kind::text, 5000}, Dims{300}};
  const BlockCut cut = cut_blocks({{dataset}, {}})[0];
  const std::vector<std::byte> data = random_bytes(random, bytes(dataset));
  const Box whole{Dims{0}, dataset.shape};
  std::vector<std::byte> memory(2 * data.size());
  for (int64_t i = 0; i < 300; ++i) std::copy_n(data.begin() + i * 5000, 5000, memory.begin() + (2 * i + 1) * 5000);
  std::vector<uint64_t> sums(static_cast<size_t>(cut.count));
  add_to_sums(Selection::of_box(dataset.shape, whole, Memory{1, Dims{2}}), memory.data(), 5000, cut, sums);
  finish(dataset, cut, sums);
  EXPECT_EQ(sums, direct_sums(dataset, cut, data));
}

TEST(Checksums, BlocksAreOfAMebibyteUntilThereAreTooMany) {
  const auto cut_of = [](ElementType type, const Dims& shape) { return cut_blocks({{{"x", type, shape}}, {}})[0]; };
  EXPECT_EQ(cut_of({Kind::f64}, Dims{1000}).elements, 131072);
  EXPECT_EQ(cut_of({Kind::f64}, Dims{1000}).count, 1);
  EXPECT_EQ(cut_of({Kind::f64}, Dims{0}).count, 0);
  EXPECT_EQ(cut_of({Kind::text, 12}, Dims{1 << 20}).elements, 87381);
  for (const int64_t extent : {int64_t{1} << 33, int64_t{1} << 36, (int64_t{1} << 40) - 1, int64_t{1} << 50}) {
    const BlockCut cut = cut_of({Kind::f64}, Dims{extent});
    EXPECT_LE(cut.count, 1 << 16) << extent;
    EXPECT_GE(cut.count, 1 << 14) << extent;
    EXPECT_EQ(cut.elements % 131072, 0);
    EXPECT_GE(cut.count * cut.elements, extent);
  }
}

TEST(Checksums, ManyDatasetsShareTheWords) {
  Catalogue catalogue;
  for (int i = 0; i < 100; ++i)
    catalogue.datasets.push_back({"d" + std::to_string(1000 + i), {Kind::f64}, Dims{int64_t{1} << 33}});
  catalogue.datasets.insert(catalogue.datasets.begin(), {std::string(record_name), {Kind::u64}, Dims{100}});
  const auto cuts = cut_blocks(catalogue);
  EXPECT_EQ(cuts[0].count, 0);
  EXPECT_LE(block_count(cuts), 1 << 18);
  for (size_t d = 1; d < cuts.size(); ++d) EXPECT_EQ(cuts[d].first, cuts[d - 1].first + cuts[d - 1].count);
  EXPECT_GE(block_count(cuts), 1 << 16);
}

Record some_record() {
  Record record{123456789, 2048, 77, {}};
  record.datasets.push_back({crc64(std::as_bytes(std::span(std::string_view("a")))), 300000, 131072, {1, 2, 3}});
  record.datasets.push_back({crc64(std::as_bytes(std::span(std::string_view("b")))), 5, 0, {}});
  return record;
}

TEST(Checksums, ARecordIsReadBack) {
  std::vector<uint64_t> words = encode(some_record());
  words.resize(words.size() + 5);  // unused space
  const auto record = decode_record(words);
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_EQ(record->committed_at, 123456789);
  EXPECT_EQ(record->metadata_bytes, 2048);
  EXPECT_EQ(record->metadata_sum, 77u);
  const auto* sums = record->find({"a", {Kind::f64}, Dims{300000}});
  ASSERT_NE(sums, nullptr);
  EXPECT_EQ(sums->blocks, (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(record->find({"a", {Kind::f64}, Dims{300001}}), nullptr);
  EXPECT_EQ(record->find({"b", {Kind::f64}, Dims{5}}), nullptr);
  EXPECT_EQ(record->find({"c", {Kind::f64}, Dims{5}}), nullptr);
}

TEST(Checksums, ADamagedRecordIsRefused) {
  const std::vector<uint64_t> words = encode(some_record());
  for (size_t i = 0; i < words.size() * 64; ++i) {
    std::vector<uint64_t> damaged = words;
    damaged[i / 64] ^= uint64_t{1} << (i % 64);
    EXPECT_EQ(decode_record(damaged).status().code(), Code::damaged) << "bit " << i;
  }
  for (size_t n = 0; n < words.size(); ++n)
    EXPECT_EQ(decode_record(std::span(words).first(n)).status().code(), Code::damaged) << n << " words";
  EXPECT_EQ(decode_record({}).status().code(), Code::damaged);
}

// A false record with a correct checksum must not cause an allocation of the size it states.
TEST(Checksums, ARecordThatLiesIsRefused) {
  std::vector<uint64_t> words = encode(some_record());
  for (const uint64_t lie : {UINT64_MAX, uint64_t{1} << 62, uint64_t{4}}) {
    for (size_t i = 4; i < 9; ++i) {
      if (i == 5 || i == 6 || (i == 8 && lie > 4))
        continue;  // its length, a name, and larger blocks than there are elements
      std::vector<uint64_t> lying = words;
      lying[i] = lie;
      lying.back() = crc64(std::as_bytes(std::span(lying).first(lying.size() - 1)));
      EXPECT_EQ(decode_record(lying).status().code(), Code::damaged) << "word " << i << ": " << lie;
    }
  }
}

}  // namespace
}  // namespace penstock
