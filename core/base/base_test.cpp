// Tests of the base: statuses, checksums, sizes, and encoded values.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <penstock/phase.hpp>
#include <penstock/status.hpp>

#include "core/base/crc64.hpp"
#include "core/base/encode.hpp"
#include "core/base/nearest.hpp"
#include "core/base/units.hpp"
#include "core/base/utf8.hpp"
#include "core/base/workers.hpp"

namespace penstock {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Status, ContextGoesBeforeAndOkStaysOk) {
  EXPECT_TRUE(Status().in("anything").ok());
  const Status status = Status(Code::no_space, "disk full").in("offset 7").in("writing 'rho'");
  EXPECT_EQ(status.code(), Code::no_space);
  EXPECT_EQ(status.message(), "writing 'rho': offset 7: disk full");
}

TEST(Status, ErrnoBecomesTheCodeOfItsRemedy) {
  const std::pair<int, Code> table[] = {{ENOENT, Code::not_found}, {EEXIST, Code::exists},   {EACCES, Code::denied},
                                        {EROFS, Code::denied},     {ENOSPC, Code::no_space}, {EDQUOT, Code::no_space},
                                        {EIO, Code::io},           {EPERM, Code::denied}};
  for (const auto& [error, code] : table) {
    const Status status = Status::from_errno(error, "opening 'x'");
    EXPECT_EQ(status.code(), code) << error;
    EXPECT_TRUE(status.message().starts_with("opening 'x': ")) << status.message();
  }
}

TEST(Status, EveryCodeHasAName) {
  for (int code = 0; code <= 16; ++code) EXPECT_NE(name(static_cast<Code>(code)), "unknown") << code;
}

Result<int> half(int n) {
  if (n % 2 != 0) return Status(Code::invalid, "odd");
  return n / 2;
}

Result<int> quarter(int n) {
  PENSTOCK_ASSIGN(const int once, half(n));
  PENSTOCK_ASSIGN(const int twice, half(once));
  return twice;
}

TEST(Result, TryLeavesWithTheFirstError) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).status().message(), "odd");
  EXPECT_FALSE(quarter(5));
}

TEST(Crc64, CheckValueOfTheCatalogue) {
  EXPECT_EQ(crc64(bytes_of("123456789")), 0x995DC9BBDF1939FAu);  // CRC-64/XZ in Cook's catalogue of CRC algorithms
  EXPECT_EQ(crc64({}), 0u);
  EXPECT_EQ(crc64({}, 77), 77u);
}

TEST(Crc64, AnySplitContinuesAndCombines) {
  std::mt19937_64 random(20261121);
  for (int round = 0; round < 300; ++round) {
    std::string data(random() % 3000, '\0');
    for (char& c : data) c = static_cast<char>(random());
    const size_t at = data.empty() ? 0 : random() % (data.size() + 1);
    const auto a = bytes_of(std::string_view(data).substr(0, at)), b = bytes_of(std::string_view(data).substr(at));
    const uint64_t whole = crc64(bytes_of(data));
    EXPECT_EQ(crc64(b, crc64(a)), whole);
    EXPECT_EQ(crc64_combine(crc64(a), crc64(b), static_cast<int64_t>(b.size())), whole);
    // Unaligned starts.
    const std::string shifted = "x" + data;
    EXPECT_EQ(crc64(bytes_of(std::string_view(shifted).substr(1))), whole);
  }
}

// The available methods depend on the machine: tests lengths around every limit between them, with any alignment.
TEST(Crc64, EveryLengthAndAlignmentIsAsByTheTable) {
  std::mt19937_64 random(20261122);
  std::vector<std::byte> data(10000 + 64);
  for (std::byte& b : data) b = static_cast<std::byte>(random());
  const auto expect_same = [&](size_t at, size_t length) {
    const auto bytes = std::span<const std::byte>(data).subspan(at, length);
    const uint64_t previous = random();
    ASSERT_EQ(crc64(bytes, previous), crc64_by_table(bytes, previous)) << length << " bytes at " << at;
  };
  for (size_t length = 0; length < 1200; ++length) expect_same(length % 64, length);
  for (int round = 0; round < 1000; ++round) expect_same(random() % 64, random() % 10001);
}

TEST(Crc64, IsLinearWithoutItsInversions) {
  std::mt19937_64 random(20261124);
  for (int round = 0; round < 300; ++round) {
    std::string a(random() % 3000, '\0'), b(a.size(), '\0'), sum(a.size(), '\0');
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<char>(random());
      b[i] = static_cast<char>(random());
      sum[i] = static_cast<char>(a[i] ^ b[i]);
    }
    const auto length = static_cast<int64_t>(a.size());
    const uint64_t linear = crc64_linear(bytes_of(a));
    EXPECT_EQ(linear ^ crc64_linear(bytes_of(b)), crc64_linear(bytes_of(sum)));
    EXPECT_EQ(crc64_from_linear(linear, length), crc64(bytes_of(a)));
    EXPECT_EQ(crc64_from_linear(crc64(bytes_of(a)), length), linear);
    const size_t at = a.empty() ? 0 : random() % a.size();
    EXPECT_EQ(crc64_linear(bytes_of(a).subspan(at), crc64_linear(bytes_of(a).first(at))), linear);
    const size_t zeros = random() % 5000;
    EXPECT_EQ(Crc64Zeros(static_cast<int64_t>(zeros)).after(linear),
              crc64_linear(bytes_of(a + std::string(zeros, '\0'))));
  }
  const uint64_t far = Crc64Zeros(int64_t{1} << 40).after(77);
  EXPECT_EQ(far, Crc64Zeros(int64_t{1} << 39).after(Crc64Zeros(int64_t{1} << 39).after(77)));
}

TEST(Crc64, TermsAreAMessageOfZerosButForThem) {
  std::mt19937_64 random(20261127);
  for (const int64_t size : {1, 2, 4, 8}) {
    std::string memory(4096, '\0'), message(100000, '\0');
    for (char& c : memory) c = static_cast<char>(random());
    std::vector<Crc64Term> terms;
    for (size_t place = random() % 50; place + 8 < message.size(); place += 8 + random() % 900) {
      const size_t at = random() % (memory.size() - 8);
      message.replace(place, static_cast<size_t>(size), memory, at, static_cast<size_t>(size));
      terms.push_back({static_cast<int64_t>(at), Crc64Zeros(static_cast<int64_t>(message.size() - place)).factor()});
    }
    EXPECT_EQ(crc64_of_terms(terms, bytes_of(memory).data(), size), crc64_linear(bytes_of(message))) << size;
    EXPECT_EQ(crc64_of_terms({}, nullptr, size), 0U);
  }
}

TEST(Crc64, ManyPiecesContinueOneAnother) {
  std::mt19937_64 random(20261123);
  std::vector<std::byte> data(1 << 20);
  for (std::byte& b : data) b = static_cast<std::byte>(random());
  const uint64_t whole = crc64_by_table(data);
  for (const size_t most : {100, 3000, 70000}) {
    uint64_t continued = 0, combined = 0;
    for (std::span<const std::byte> rest = data; !rest.empty();) {
      const auto piece = rest.first(std::min<size_t>(rest.size(), 1 + random() % most));
      continued = crc64(piece, continued);
      combined = crc64_combine(combined, crc64(piece), static_cast<int64_t>(piece.size()));
      rest = rest.subspan(piece.size());
    }
    EXPECT_EQ(continued, whole);
    EXPECT_EQ(combined, whole);
  }
}

TEST(Crc64, CombinesAcrossManyBlocksAndLongZeros) {
  std::string data(100003, 'q');
  uint64_t sum = 0;
  for (size_t at = 0; at < data.size(); at += 4096) {
    const auto block = bytes_of(std::string_view(data).substr(at, 4096));
    sum = crc64_combine(sum, crc64(block), static_cast<int64_t>(block.size()));
  }
  EXPECT_EQ(sum, crc64(bytes_of(data)));
  // Combination is associative, so 2^40 bytes can be composed of halves.
  const uint64_t zeros = crc64(bytes_of(std::string(1 << 20, '\0')));
  uint64_t doubled = zeros;
  int64_t length = 1 << 20;
  for (; length < int64_t{1} << 40; length *= 2) doubled = crc64_combine(doubled, doubled, length);
  uint64_t other = crc64_combine(doubled, zeros, 1 << 20);
  EXPECT_EQ(other, crc64_combine(zeros, doubled, length));
}

TEST(Units, PeopleWriteSizesInManyWays) {
  const std::pair<const char*, int64_t> table[] = {
      {"0", 0},        {"4096", 4096},        {"4k", 4096},         {"4K", 4096},    {"4KiB", 4096},
      {"4 KiB", 4096}, {"512MiB", 512 << 20}, {"1.5 GiB", 3 << 29}, {"1G", 1 << 30}, {"2T", int64_t{2} << 40},
      {"10B", 10},     {"1MB", 1 << 20},      {"64Ki", 65536}};
  for (const auto& [text, value] : table) {
    const auto parsed = parse_bytes(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status().message();
    EXPECT_EQ(*parsed, value) << text;
  }
}

TEST(Units, NonsenseIsNamed) {
  for (const char* text : {"", "x", "-1", "4q", "4KiBs", "1e30", "nan", "inf", "0.3", "k", "4 k b", " "}) {
    const auto parsed = parse_bytes(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), Code::invalid) << text;
    EXPECT_NE(parsed.status().message().find(text), std::string::npos) << parsed.status().message();
  }
}

TEST(Units, WholeUnitsComeBackAsTheyWere) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512 << 20), "512 MiB");
  EXPECT_EQ(format_bytes(3 << 29), "1.5 GiB");
  for (int shift = 0; shift < 62; ++shift) {
    const int64_t value = int64_t{1} << shift;
    EXPECT_EQ(*parse_bytes(std::to_string(value)), value);
    if (shift < 60) {
      EXPECT_EQ(*parse_bytes(format_bytes(value)), value) << format_bytes(value);
    }
  }
}

TEST(Nearest, FindsWhatATypingErrorMade) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (int round = 0; round < 2000; ++round) {
    std::string name;
    for (size_t letters = 3 + below(20); name.size() < letters;) name += "abcXYZ/_19"[below(10)];
    std::string meant = name;
    for (size_t changes = below(name.size() / 3 + 1); changes > 0; --changes) {  // a third of the letters at most
      const size_t at = below(meant.size());
      const char letter = static_cast<char>('a' + below(26));
      const size_t kind = below(3);
      if (kind == 0) meant[at] = letter;
      if (kind == 1) meant.insert(at, 1, letter);
      if (kind == 2 && meant.size() > 1) meant.erase(at, 1);
    }
    for (size_t capitals = below(5); capitals > 0; --capitals) {
      char& c = meant[below(meant.size())];
      c = static_cast<char>(std::toupper(c));
    }
    const std::vector<std::string> names{"quite unlike all these", meant, "0000000"};
    EXPECT_EQ(nearest(name, names), meant) << name;
  }
}

TEST(Nearest, PrefersFewerChangesAndKnowsNamesWithoutTheirGroup) {
  const std::vector<std::string> names{"density", "densities", "fluid/rho", "Time", "timer"};
  EXPECT_EQ(nearest("densty", names), "density");
  EXPECT_EQ(nearest("dnesiyt", names), "density");
  EXPECT_EQ(nearest("time", names), "Time");
  EXPECT_EQ(nearest("rho", names), "fluid/rho");
  EXPECT_EQ(nearest("gas/rho", names), "fluid/rho");
  EXPECT_EQ(nearest("velocity", names), "");
}

TEST(Encode, EverythingRoundTrips) {
  Encoder out;
  out.value(int32_t{-5});
  out.text("a name");
  out.text("");
  const std::vector<int64_t> list{1, -2, int64_t{1} << 60};
  out.list(std::span<const int64_t>(list));
  out.dims(Dims{3, 4, 5});
  out.dims({});
  out.value(2.5);
  const auto bytes = out.take();
  Decoder in(bytes);
  EXPECT_EQ(in.value<int32_t>(), -5);
  EXPECT_EQ(in.text(), "a name");
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(in.list<int64_t>(), list);
  EXPECT_EQ(in.dims(), (Dims{3, 4, 5}));
  EXPECT_EQ(in.dims(), Dims());
  EXPECT_EQ(in.value<double>(), 2.5);
  EXPECT_TRUE(in.ok() && in.done());
  (void)in.value<char>();
  EXPECT_FALSE(in.ok());
}

TEST(Encode, CutOrHostileBytesAreRefusedWithoutAllocation) {
  Encoder out;
  out.text("some text");
  out.dims(Dims{1, 2});
  const auto bytes = out.take();
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    Decoder in{std::span(bytes).first(cut)};
    (void)in.text();
    (void)in.dims();
    EXPECT_FALSE(in.ok()) << cut;
  }
  for (int64_t length : {int64_t{-1}, INT64_MAX, INT64_MIN, int64_t{1} << 40}) {
    Encoder hostile;
    hostile.value(length);
    const auto few = hostile.take();
    Decoder in(few);
    EXPECT_TRUE(in.list<int64_t>().empty());
    EXPECT_FALSE(in.ok());
  }
  Encoder nine;
  nine.list(std::span<const int64_t>(std::vector<int64_t>(9, 1)));
  const auto many = nine.take();
  Decoder in(many);
  EXPECT_EQ(in.dims().rank(), 0);
  EXPECT_FALSE(in.ok());
}

TEST(Utf8, ControlCharactersAreWritten) {
  EXPECT_EQ(printable("a\x1b]0;x\x07\n\t\r\x7f" + std::string(1, '\0') + "\xc2\x9b"),
            "a\\x1b]0;x\\x07\\n\\t\\r\\x7f\\x00\\x9b");
  EXPECT_EQ(printable("caf\xc3\xa9 \xc2\xa0\xe2\x86\x92\xc2"), "caf\xc3\xa9 \xc2\xa0\xe2\x86\x92\xc2");
}

TEST(Phases, TimersAddTheirLife) {
  PhaseTimes times;
  {
    const PhaseTimer timer(times, Phase::write);
  }
  {
    const PhaseTimer timer(times, Phase::write);
  }
  EXPECT_GT(times[Phase::write], 0.0);
  EXPECT_EQ(times[Phase::sync], 0.0);
  EXPECT_LT(times[Phase::write], 1.0);
  for (int phase = 0; phase < phase_count; ++phase) EXPECT_FALSE(name(static_cast<Phase>(phase)).empty());
}

TEST(Workers, DoEverythingOnceAndSayWhatFailedFirst) {
  for (const int count : {0, 1, 3}) {
    Workers workers(count);
    EXPECT_EQ(workers.has_threads(), count > 1);
    std::atomic<int> sum = 0;
    std::mutex mutex;
    std::set<std::thread::id> threads;
    for (int i = 0; i < 100; ++i)
      ASSERT_TRUE(workers
                      .hand([&, i](int worker) -> Status {
                        EXPECT_LT(worker, workers.count());
                        sum += i;
                        const std::lock_guard lock(mutex);
                        threads.insert(std::this_thread::get_id());
                        return {};
                      })
                      .ok());
    EXPECT_TRUE(workers.finish().ok());
    EXPECT_EQ(sum, 4950);
    EXPECT_EQ(threads.contains(std::this_thread::get_id()), count < 2);
    (void)workers.hand([](int) -> Status { return {Code::io, "first"}; });
    EXPECT_EQ(workers.finish().message(), "first");
    EXPECT_FALSE(workers.hand([&](int) -> Status { return Status(Code::io, "not done"); }).ok());
    EXPECT_EQ(workers.finish().message(), "first");
  }
}

}  // namespace
}  // namespace penstock
