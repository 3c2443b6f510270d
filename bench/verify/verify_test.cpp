// Tests of the verifier: swapped, shifted, stale, zeroed blocks and single flipped bits are found, located and named.
#include <gtest/gtest.h>
#include <unistd.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/verify/library.hpp"
#include "bench/verify/truth.hpp"
#include "bench/workload/element.hpp"

namespace penstock::bench {
namespace {

const std::map<Kind, std::string> dtypes{{Kind::f64, "<f8"},       {Kind::f32, "<f4"},        {Kind::i64, "<i8"},
                                         {Kind::u64, "<u8"},       {Kind::i32, "<i4"},        {Kind::u32, "<u4"},
                                         {Kind::complex64, "<c8"}, {Kind::complex128, "<c16"}};
constexpr int ranks = 4;
constexpr uint64_t seed = 7;
constexpr int repetition = 2;

// A square of 24 x 24 on 2 x 2 ranks, complete in memory as in a file.
class Verify : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    WorkloadRequest request;
    request.type = ElementType{GetParam()};
    size_ = static_cast<size_t>(bytes(request.type));
    request.total_bytes = int64_t{24} * 24 * static_cast<int64_t>(size_);
    auto made = make_workload("block2d", request);
    ASSERT_TRUE(made.ok());
    workload_ = *std::move(made);
    truth_ = {workload_.get(), seed, repetition};
    file_ = assemble(truth_);
  }

  // By the writers' parts, not by expect(), so that the two ways of computing contents are also compared.
  std::vector<std::byte> assemble(const Truth& truth) const {
    std::vector<std::byte> file(size_t{24} * 24 * size_);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto part = workload_->part(0, rank, ranks);
      std::vector<std::byte> own(static_cast<size_t>(part->elements()) * size_);
      fill_piece(truth, {0, *part, 0, own});
      size_t at = 0;
      for_each_run(*part, [&](int64_t offset, int64_t length) {
        std::memcpy(&file[static_cast<size_t>(offset) * size_], &own[at], static_cast<size_t>(length) * size_);
        at += static_cast<size_t>(length) * size_;
      });
    }
    return file;
  }

  // Checked in three slabs, as by three readers.
  std::string verdict() const {
    Faults faults;
    Digest sum;
    for (int reader = 0; reader < 3; ++reader) {
      const Slab own = slab(*workload_, 0, reader, 3);
      const auto data = std::span(file_).subspan(static_cast<size_t>(own.begin) * size_,
                                                 static_cast<size_t>(own.end - own.begin) * size_);
      check(truth_, 0, own.begin, data, faults);
      sum.append(digest(data));
    }
    const Digest formula = expected_digest(truth_, 0, {0, int64_t{24} * 24});
    EXPECT_EQ(sum.bytes, formula.bytes);
    EXPECT_EQ(sum.crc == formula.crc, faults.wrong == 0);
    return faults.wrong == 0 ? "right" : explain(truth_, faults, ranks);
  }

  std::byte* row(int64_t y, int64_t x) { return &file_[static_cast<size_t>(y * 24 + x) * size_]; }
  bool says(const std::string& text, const std::string& words) const { return text.find(words) != std::string::npos; }

  size_t size_ = 0;
  std::unique_ptr<Workload> workload_;
  Truth truth_;
  std::vector<std::byte> file_;
};

TEST_P(Verify, AcceptsTheTruth) { EXPECT_EQ(verdict(), "right"); }

TEST_P(Verify, CatchesSwappedBlocks) {
  for (int64_t y = 0; y < 12; ++y) std::swap_ranges(row(y, 0), row(y, 12), row(y + 12, 12));
  const std::string text = verdict();
  EXPECT_TRUE(says(text, "element (0, 0)")) << text;
  EXPECT_TRUE(says(text, "element (12, 12) of 'field'")) << text;
  EXPECT_TRUE(says(text, "rank 0")) << text;
  EXPECT_TRUE(says(text, "288 wrong in all")) << text;
}

TEST_P(Verify, CatchesShiftedBlock) {
  std::memmove(row(13, 12), row(13, 11), 12 * size_);
  const std::string text = verdict();
  EXPECT_TRUE(says(text, "element (13, 12)")) << text;
  EXPECT_TRUE(says(text, "element (13, 11) of 'field'")) << text;
  EXPECT_TRUE(says(text, "rank 3")) << text;
  EXPECT_TRUE(says(text, "12 wrong in all")) << text;
}

TEST_P(Verify, CatchesStaleBlock) {
  Truth before = truth_;
  before.repetition = 1;
  std::vector<std::byte> old = assemble(before);
  std::memcpy(row(5, 12), &old[(5 * 24 + 12) * size_], 3 * size_);
  const std::string text = verdict();
  EXPECT_TRUE(says(text, "element (5, 12)")) << text;
  EXPECT_TRUE(says(text, "stale: element (5, 12) of 'field' in repetition 1")) << text;
  EXPECT_TRUE(says(text, "rank 1")) << text;
  EXPECT_TRUE(says(text, "3 wrong in all")) << text;
}

TEST_P(Verify, CatchesZeroedBlock) {
  std::memset(row(23, 20), 0, 4 * size_);
  const std::string text = verdict();
  EXPECT_TRUE(says(text, "element (23, 20)")) << text;
  EXPECT_TRUE(says(text, "(zeroed)")) << text;
}

TEST_P(Verify, CatchesAnyFlippedBit) {
  for (size_t bit = 0; bit < size_ * 8; ++bit) {
    std::byte& byte = row(17, 3)[bit / 8];
    byte ^= std::byte{1} << (bit % 8);
    const std::string text = verdict();
    EXPECT_TRUE(says(text, "element (17, 3)")) << text;
    EXPECT_TRUE(says(text, "one bit flipped")) << text;
    EXPECT_TRUE(says(text, "rank 2")) << text;
    EXPECT_TRUE(says(text, " 1 wrong in all")) << text;
    byte ^= std::byte{1} << (bit % 8);
  }
}

TEST_P(Verify, CatchesOtherByteOrder) {
  const auto word = scalar_bytes(ElementType{GetParam()});
  for (std::byte* at = row(1, 1); at != row(1, 2); at += word) std::reverse(at, at + word);
  EXPECT_TRUE(says(verdict(), "in the other byte order")) << verdict();
}

TEST_P(Verify, ValuesAreInjectiveAndCanBeUndone) {
  const Numbering numbering = truth_.numbering(0);
  std::vector<std::byte> values(100000 * size_);
  const int64_t first = numbering.injective(int64_t{1} << 40) ? (int64_t{1} << 40) : 12345;
  numbering.fill(first, values);
  for (int64_t i = 0; i < 100000; ++i) ASSERT_EQ(numbering.number(&values[static_cast<size_t>(i) * size_]), first + i);
}

// The independent reader of raw sets finds errors in blocks and in their description.
TEST_P(Verify, RawReaderCatchesWrongBlocks) {
  char folder[] = "/tmp/penstock-verify.XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string part = std::string(folder) + "/part", sidecar = std::string(folder) + "/set.raw";
  const auto store = [&](const std::vector<std::byte>& data) {
    std::ofstream(part, std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  };
  const auto judge = [&](const nlohmann::json& dataset) -> std::string {
    std::ofstream(sidecar) << nlohmann::json{{"parts", {"part"}}, {"datasets", {dataset}}};
    Faults faults;
    const Status status = check_raw(sidecar, truth_, faults);
    return !status.ok() ? status.message() : faults.wrong == 0 ? "right" : explain(truth_, faults, ranks);
  };
  const nlohmann::json base{{"name", "field"}, {"dtype", dtypes.at(GetParam())}, {"shape", {24, 24}}};
  nlohmann::json whole = base, halves = base, runs = base;
  whole["file"] = "part";
  whole["offset"] = 0;
  const int64_t half = int64_t{12} * 24 * static_cast<int64_t>(size_);
  halves["blocks"] = {{{"part", 0}, {"offset", 0}, {"start", {0, 0}}, {"count", {12, 24}}},
                      {{"part", 0}, {"offset", half}, {"start", {12, 0}}, {"count", {12, 24}}}};
  runs["blocks"] = {{{"part", 0}, {"offset", 0}, {"runs", {{0, 100}, {100, 24 * 24 - 100}}}}};
  store(file_);
  EXPECT_EQ(judge(whole), "right");
  EXPECT_EQ(judge(halves), "right");
  EXPECT_EQ(judge(runs), "right");
  nlohmann::json swapped = halves;
  std::swap(swapped["blocks"][0]["offset"], swapped["blocks"][1]["offset"]);
  EXPECT_TRUE(says(judge(swapped), "element (0, 0): ")) << judge(swapped);
  nlohmann::json missing = halves, twice = halves;
  missing["blocks"].erase(1);
  EXPECT_TRUE(says(judge(missing), "is in no block")) << judge(missing);
  twice["blocks"].push_back(twice["blocks"][0]);
  EXPECT_TRUE(says(judge(twice), "is in two blocks")) << judge(twice);
  // Four chunks of 16 x 16, padded, of which no filter made anything.
  std::vector<std::byte> padded;
  for (const int64_t row : {0, 16})
    for (const int64_t column : {0, 16})
      for (int64_t i = 0; i < int64_t{16} * 16; ++i) {
        const int64_t y = row + i / 16, x = column + i % 16;
        const auto at = static_cast<ptrdiff_t>((y * 24 + x) * static_cast<int64_t>(size_));
        const bool inside = y < 24 && x < 24;
        if (inside)
          padded.insert(padded.end(), &file_[static_cast<size_t>(at)], &file_[static_cast<size_t>(at)] + size_);
        if (!inside) padded.resize(padded.size() + size_);
      }
  store(padded);
  const size_t chunk = 16 * 16 * size_;
  nlohmann::json chunks = base;
  chunks.update({{"file", "part"}, {"chunk", {16, 16}}, {"filters", {{{"id", 1}, {"values", {6}}}}}});
  for (size_t i = 0; i < 4; ++i) chunks["chunks"].push_back({i, i * chunk, chunk, 1});
  EXPECT_EQ(judge(chunks), "right");
  swapped = missing = chunks;
  std::swap(swapped["chunks"][0][1], swapped["chunks"][1][1]);
  EXPECT_TRUE(says(judge(swapped), "element (0, 0): ")) << judge(swapped);
  missing["chunks"].erase(2);
  EXPECT_TRUE(says(judge(missing), "element number 384 is in no block")) << judge(missing);
  chunks["chunks"][3][3] = 0;
  EXPECT_TRUE(says(judge(chunks), "chunk 3: ")) << judge(chunks);
  file_.resize(file_.size() - size_);
  store(file_);
  EXPECT_TRUE(says(judge(whole), "ends before byte")) << judge(whole);
  for (const std::string& name : {part, sidecar, std::string(folder)}) (void)::remove(name.c_str());
}

INSTANTIATE_TEST_SUITE_P(Types, Verify,
                         testing::Values(Kind::f64, Kind::f32, Kind::i64, Kind::u64, Kind::i32, Kind::u32,
                                         Kind::complex64, Kind::complex128),
                         [](const auto& info) { return std::string(element_word(info.param)); });

}  // namespace
// Four transfers of 16 bytes each, 3 ranks, 2 segments: every transfer of a rank contains its first one.
TEST(OneBuffer, HoldsWhatTheFileMustHold) {
  WorkloadRequest request;
  request.ranks = 3;
  request.type = ElementType{Kind::i32};
  request.ior = {.block_bytes = 64, .transfer_bytes = 16, .segments = 2, .one_buffer = true};
  const auto workload = *make_workload("ior", request);
  const Truth truth{workload.get(), seed, repetition};
  const size_t transfer = 16, rank_bytes = 64, total = size_t{2} * 3 * rank_bytes;
  std::vector<std::byte> file(total), buffer(transfer);
  expect(truth, 0, 0, file);
  for (int rank = 0; rank < 3; ++rank) {
    const auto portions = workload->portions(rank, 3);
    for (const Portion& portion : *portions) {
      fill_piece(truth, {0, portion.part, 0, buffer});
      const auto at = static_cast<size_t>(portion.part.box_list()[0].start[0] * 3 + rank) * rank_bytes +
                      static_cast<size_t>(portion.part.box_list()[0].start[2]) * 4;
      EXPECT_EQ(std::memcmp(&file[at], buffer.data(), transfer), 0) << rank << " at " << at;
      EXPECT_EQ(std::memcmp(&file[static_cast<size_t>(rank) * rank_bytes], buffer.data(), transfer), 0);
    }
  }
  EXPECT_NE(std::memcmp(file.data(), &file[rank_bytes], transfer), 0) << "ranks have contents of their own";
  Faults faults;
  std::vector<std::byte> unaligned(file.begin() + 12, file.begin() + 12 + 100);
  check(truth, 0, 3, unaligned, faults);
  EXPECT_EQ(faults.wrong, 0);
}

namespace {

Plan plan_with(std::string_view name, std::string_view value) {
  Plan plan;
  EXPECT_TRUE(plan.settings.set({name, Parameter::Type::text, "", "", ""}, value).ok());
  return plan;
}

TEST(Bound, FollowsThePlan) {
  const ElementType f64{Kind::f64}, f32{Kind::f32}, i32{Kind::i32}, c64{Kind::complex64};
  const Plan kept = plan_with("keep_bits", "9");
  EXPECT_EQ(bound_of(kept, f64).relative, 0x1p-10);
  EXPECT_EQ(bound_of(kept, f32).relative, 0x1p-10);
  EXPECT_EQ(bound_of(kept, c64).relative, 0x1p-10);
  EXPECT_TRUE(bound_of(kept, i32).exact());
  EXPECT_TRUE(bound_of(plan_with("keep_bits", "23"), f32).exact());
  EXPECT_EQ(bound_of(plan_with("keep_bits", "23"), f64).relative, 0x1p-24);
  EXPECT_TRUE(bound_of(plan_with("keep_bits", "0"), f64).exact());
  EXPECT_EQ(bound_of(plan_with("max_error", "1e-3"), f64).absolute, 1e-3);
  EXPECT_TRUE(bound_of(plan_with("compression", "zstd"), f64).exact());
}

TEST(Bound, KnowsPlansThatCompress) {
  EXPECT_TRUE(compresses(plan_with("compression", "zstd")));
  EXPECT_TRUE(compresses(plan_with("filter", "deflate")));
  EXPECT_FALSE(compresses(plan_with("compression", "none")));
  EXPECT_FALSE(compresses(Plan()));
}

bool near(double expected, double found, const Bound& bound, Deviation& largest) {
  return within(Kind::f64, reinterpret_cast<const std::byte*>(&expected), reinterpret_cast<const std::byte*>(&found),
                bound, largest);
}

TEST(Bound, IsTheLargerOfBothParts) {
  Deviation largest;
  EXPECT_TRUE(near(8, 8.5, {.relative = 0x1p-4}, largest));
  EXPECT_EQ(largest.absolute, 0.5);
  EXPECT_EQ(largest.relative, 0x1p-4);
  EXPECT_FALSE(near(8, std::nextafter(8.5, 9), {.relative = 0x1p-4}, largest));
  EXPECT_TRUE(near(0, 0.25, {.absolute = 0.25, .relative = 1e-9}, largest));
  EXPECT_FALSE(near(0, 1e-300, {.relative = 0.5}, largest)) << "nothing is near zero";
  EXPECT_TRUE(near(3, 3, {}, largest));
  EXPECT_EQ(largest.relative, std::nextafter(8.5, 9) / 8 - 1) << "the largest so far";
}

TEST(Bound, AllowsNoOtherNanOrInfinity) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  Deviation largest;
  const Bound wide{.absolute = infinity, .relative = 1};
  EXPECT_TRUE(near(nan, nan, wide, largest));
  EXPECT_TRUE(near(infinity, infinity, wide, largest));
  EXPECT_FALSE(near(nan, 1, wide, largest));
  EXPECT_FALSE(near(1, nan, wide, largest));
  EXPECT_FALSE(near(infinity, -infinity, wide, largest));
  EXPECT_EQ(largest.absolute, 0);
}

TEST(Bound, HoldsForEachPartOfAComplexNumber) {
  const std::complex<float> expected{1000, 1}, found{1001, 1}, wrong{1000, 1.01F};
  const auto parts = [&](const std::complex<float>& value) {
    Deviation largest;
    return within(Kind::complex64, reinterpret_cast<const std::byte*>(&expected),
                  reinterpret_cast<const std::byte*>(&value), {.relative = 0x1p-9}, largest);
  };
  EXPECT_TRUE(parts(found));
  EXPECT_FALSE(parts(wrong)) << "1 % of the imaginary part";
}

// Rounded as keep_bits does: to the nearest value with so many explicit bits of the mantissa.
double rounded(double value, int bits) {
  const int exponent = std::ilogb(value);
  return std::ldexp(std::nearbyint(std::ldexp(value, bits - exponent)), exponent - bits);
}

class Rounded : public testing::Test {
 protected:
  void SetUp() override {
    WorkloadRequest request;
    request.type = ElementType{Kind::f64};
    request.total_bytes = int64_t{64} * 64 * 8;
    workload_ = *make_workload("block2d", request);
    data_ = *make_turbulence(workload_->fields());
    truth_ = {workload_.get(), seed, repetition, data_.get(), {bound_of(plan_with("keep_bits", "9"), request.type)}};
    values_.resize(size_t{64} * 64);
    expect(truth_, 0, 0, bytes_of());
  }
  std::span<std::byte> bytes_of() { return std::as_writable_bytes(std::span(values_)); }
  Faults checked() {
    Faults faults;
    check(truth_, 0, 0, bytes_of(), faults);
    return faults;
  }

  std::unique_ptr<Workload> workload_;
  std::shared_ptr<const Values> data_;
  Truth truth_;
  std::vector<double> values_;
};

TEST_F(Rounded, IsRightUpToItsBoundAndTheLargestErrorIsReported) {
  EXPECT_FALSE(truth_.exact());
  EXPECT_EQ(checked().largest.absolute, 0);
  const std::vector<double> exact = values_;
  double most = 0;
  for (double& value : values_) {
    const double before = value;
    value = rounded(value, 9);
    most = std::max(most, std::abs(value - before) / std::abs(before));
  }
  const Faults faults = checked();
  EXPECT_EQ(faults.wrong, 0);
  EXPECT_DOUBLE_EQ(faults.largest.relative, most);
  EXPECT_LE(most, 0x1p-10);
  EXPECT_GT(most, 0x1p-11);
  for (size_t i = 0; i < exact.size(); ++i) values_[i] = rounded(exact[i], 7);
  EXPECT_GT(checked().wrong, 1000);
}

TEST_F(Rounded, ButNotBeyondIt) {
  values_[64 * 3 + 5] *= 1.002;
  const Faults faults = checked();
  ASSERT_EQ(faults.wrong, 1);
  const std::string text = explain(truth_, faults, 1);
  EXPECT_NE(text.find("element (3, 5)"), std::string::npos) << text;
  EXPECT_NE(text.find("relatively 0.002, where the plan allows 0, relatively 0.000977"), std::string::npos) << text;
  truth_.bounds.clear();
  EXPECT_EQ(checked().wrong, 1);
}

TEST_F(Rounded, WhatAnEarlierRepetitionWroteIsStale) {
  Truth before = truth_;
  before.repetition = 1;
  double old = 0;
  expect(before, 0, 70, std::as_writable_bytes(std::span(&old, 1)));
  values_[70] = rounded(old, 9);
  const Faults faults = checked();
  ASSERT_EQ(faults.wrong, 1);
  const std::string text = explain(truth_, faults, 1);
  EXPECT_NE(text.find("stale: this element in repetition 1"), std::string::npos) << text;
  values_[70] = 100;
  EXPECT_NE(explain(truth_, checked(), 1).find("not the value of this element"), std::string::npos);
}

TEST_F(Rounded, FaultsOfRanksAreMerged) {
  Faults one{.wrong = 0, .largest = {0.5, 0.1}}, other{.wrong = 2, .largest = {0.25, 0.2}, .field = 0, .offset = 7};
  merge(one, other);
  EXPECT_EQ(one.wrong, 2);
  EXPECT_EQ(one.offset, 7);
  EXPECT_EQ(one.largest.absolute, 0.5);
  EXPECT_EQ(one.largest.relative, 0.2);
}

}  // namespace
}  // namespace penstock::bench
