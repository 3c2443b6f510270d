// Tests of the index: exact round trips, and false texts of many kinds.
#include "core/format/index.hpp"

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/format/dtype.hpp"
#include "core/format/testing.hpp"

namespace penstock {
namespace {

using namespace testing;
using nlohmann::json;

Contents sample() {
  Contents contents;
  contents.format = "raw";
  contents.generation = "00000000000000a7";
  contents.replaced = "00000000000000a6";
  contents.parts = {"/some/folder/heat.g00000000000000a7.0", "/some/folder/heat.g00000000000000a7.1"};
  contents.catalogue.datasets = {{"a", {Kind::f64, 0}, Dims{4, 6}, false},
                                 {"fluid/runs", {Kind::i32, 0}, Dims{10}, true},
                                 {"nothing", {Kind::text, 5}, Dims{0}, false},
                                 {"scalar", {Kind::complex128, 0}, Dims{}, false},
                                 {"z", {Kind::f32, 0}, Dims{5, 7}, true}};
  contents.blocks.resize(5);
  contents.foreign = {false, false, false, false, true};
  contents.chunks["z"] = Dims{2, 4};
  contents.filters["z"] = {{2, {4}}, {32015, {}}};
  contents.listed["z"] = {1, {{0, 20'000, 30, 0}, {3, 20'030, 32, 1}, {5, 21'000, 7, 0}}};
  contents.blocks[0] = {{0, 0, false, Selection::of_box(Dims{4, 6}, {Dims{0, 0}, Dims{4, 3}})},
                        {1, 0, false, Selection::of_box(Dims{4, 6}, {Dims{0, 3}, Dims{4, 3}})}};
  const penstock::Run first[] = {{0, 3}, {8, 2}}, second[] = {{3, 5}};
  contents.blocks[1] = {{0, 96, true, Selection::of_runs(Dims{10}, first)},
                        {1, 96, true, Selection::of_runs(Dims{10}, second)}};
  contents.blocks[3] = {{1, 4096, false, Selection::whole(Dims{})}};
  contents.heads = {{2048, 0x0123456789abcdef}, {0, 0}};
  contents.parity = {"/some/folder/heat.g00000000000000a7.parity", {5000, 0xfedcba9876543210}, {{5000, 7}, {4104, 8}}};
  return contents;
}

void expect_same(const std::vector<FileSum>& a, const std::vector<FileSum>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].bytes, b[i].bytes);
    EXPECT_EQ(a[i].sum, b[i].sum);
  }
}

void expect_same(const Contents& a, const Contents& b) {
  EXPECT_EQ(a.format, b.format);
  EXPECT_EQ(a.generation, b.generation);
  EXPECT_EQ(a.replaced, b.replaced);
  EXPECT_EQ(a.parts, b.parts);
  expect_same(a.heads, b.heads);
  ASSERT_EQ(a.parity.has_value(), b.parity.has_value());
  if (a.parity) {
    EXPECT_EQ(a.parity->path, b.parity->path);
    EXPECT_EQ(a.parity->file.bytes, b.parity->file.bytes);
    EXPECT_EQ(a.parity->file.sum, b.parity->file.sum);
    expect_same(a.parity->parts, b.parity->parts);
  }
  EXPECT_EQ(a.catalogue.datasets, b.catalogue.datasets);
  EXPECT_EQ(a.catalogue.attributes, b.catalogue.attributes);
  EXPECT_EQ(a.foreign, b.foreign);
  EXPECT_EQ(a.chunks, b.chunks);
  EXPECT_EQ(a.filters, b.filters);
  ASSERT_EQ(a.listed.size(), b.listed.size());
  for (const auto& [name, listed] : a.listed) {
    ASSERT_TRUE(b.listed.contains(name));
    EXPECT_EQ(listed.part, b.listed.at(name).part);
    const auto numbers = [](const ListedChunks& one) {
      std::vector<int64_t> list;
      for (const EncodedChunk& c : one.chunks) list.insert(list.end(), {c.number, c.offset, c.bytes, c.skipped});
      return list;
    };
    EXPECT_EQ(numbers(listed), numbers(b.listed.at(name)));
  }
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  for (size_t i = 0; i < a.blocks.size(); ++i) {
    ASSERT_EQ(a.blocks[i].size(), b.blocks[i].size());
    for (size_t k = 0; k < a.blocks[i].size(); ++k) {
      const StoredBlock &x = a.blocks[i][k], &y = b.blocks[i][k];
      EXPECT_EQ(x.part, y.part);
      EXPECT_EQ(x.base, y.base);
      EXPECT_EQ(x.swapped, y.swapped);
      ASSERT_EQ(x.where.is_box(), y.where.is_box());
      if (x.where.is_box()) {
        EXPECT_EQ(x.where.box(), y.where.box());
        continue;
      }
      ASSERT_EQ(x.where.runs().size(), y.where.runs().size());
      for (size_t r = 0; r < x.where.runs().size(); ++r) {
        EXPECT_EQ(x.where.runs()[r].offset, y.where.runs()[r].offset);
        EXPECT_EQ(x.where.runs()[r].length, y.where.runs()[r].length);
      }
    }
  }
}

TEST(Index, RoundTrip) {
  const Contents contents = sample();
  const auto text = encode_index(contents);
  ASSERT_TRUE(text.ok()) << text.status().message();
  const auto read = decode_index(*text, "raw", "/some/folder");
  ASSERT_TRUE(read.ok()) << read.status().message() << *text;
  expect_same(contents, *read);
  EXPECT_EQ(*encode_index(*read), *text);
  const json root = json::parse(*text);
  EXPECT_EQ(root["datasets"][3]["file"], "heat.g00000000000000a7.1");
  EXPECT_EQ(root["datasets"][3]["offset"], 4096);
  EXPECT_EQ(root["datasets"][4]["chunks"], json::parse("[[0,20000,30,0],[3,20030,32,1],[5,21000,7,0]]"));
  EXPECT_EQ(root["datasets"][4]["filters"][0], json::parse(R"({"id": 2, "values": [4]})"));
  EXPECT_EQ(root["datasets"][1]["dtype"], ">i4");
  EXPECT_EQ(root["datasets"][1]["blocks"][0]["runs"], json::parse("[[0,3],[8,2]]"));
}

TEST(Index, SaysWhetherItIsAsItWasWritten) {
  const std::string text = *encode_index(sample());
  EXPECT_FALSE(decode_index(text, "raw", "")->altered);
  std::string edited = text;
  edited.replace(edited.find("4096"), 4, "8192");
  ASSERT_TRUE(decode_index(edited, "raw", "").ok());
  EXPECT_TRUE(decode_index(edited, "raw", "")->altered);
  EXPECT_TRUE(decode_index(json::parse(text).dump(), "raw", "")->altered) << "other white space";
  const size_t at = text.rfind(index_sum_key);
  EXPECT_FALSE(decode_index(text.substr(0, at) + "}", "raw", "")->altered) << "of before there were sums";
  int unseen = 0;
  for (size_t i = 0; i < at; ++i) {
    std::string bad = text;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    const auto read = decode_index(bad, "raw", "");
    unseen += read.ok() && !read->altered;
  }
  EXPECT_EQ(unseen, 0);
}

template <typename T>
Attribute array(const std::string& name, Kind kind, const std::vector<T>& values) {
  return make_attribute(name, {kind, 0}, values.data(), static_cast<int64_t>(values.size()));
}

TEST(Index, AttributesAreExact) {
  Contents contents = sample();
  auto& file = contents.catalogue.attributes[""];
  const auto add = [&](Attribute a) { file[a.name] = a; };
  const double inf = std::numeric_limits<double>::infinity();
  add(array<double>(
      "f64", Kind::f64,
      {0.1, -0.0, 5e-324, 1.7976931348623157e308, inf, -inf, std::nan(""), -std::nan(""), 1e22, 12345678901234567890.0,
       std::bit_cast<double>(0x7ff0000000000001), std::bit_cast<double>(0xfff8000000abcdef)}));
  add(array<float>("f32", Kind::f32,
                   {0.1f, -0.0f, 1e-45f, 3.4028235e38f, std::numeric_limits<float>::infinity(), std::nanf(""),
                    std::bit_cast<float>(0x7f800001u)}));
  add(array<int64_t>("i64", Kind::i64, {INT64_MIN, INT64_MAX, -1, 0}));
  add(array<uint64_t>("u64", Kind::u64, {UINT64_MAX, 0, uint64_t{1} << 63}));
  add(array<int8_t>("i8", Kind::i8, {-128, 127}));
  add(array<uint8_t>("none", Kind::u8, {}));
  const double pair[] = {1.5, std::nan("")};
  add(make_attribute("complex", {Kind::complex128, 0}, pair, -1));
  add(make_attribute("complexes", {Kind::complex128, 0}, pair, 1));
  add(text_attribute("text",
                     std::string_view("h\xc3\xa9 \"quoted\" \\ \n\x01 \xff\xfe \xed\xa0\x80 \xf0\x9f\x98\x80")));
  add(text_attribute("nul", std::string_view("a\0b", 3)));
  add(text_attribute("escape", std::string_view("\\u0000ff")));
  add(text_attribute("empty", std::string_view()));
  add(text_attribute("texts", std::vector<std::string>{"one", "", "three"}));
  add(text_attribute("na\xff\xc3me", std::string_view("x")));
  const float matrix[] = {1, 2, 3, 4, 5, 6};
  Attribute shaped = make_attribute("matrix", {Kind::f32, 0}, matrix, 6);
  shaped.shape = Dims{2, 3};
  add(shaped);
  contents.catalogue.attributes["fluid"]["g"] = text_attribute("g", std::string_view("group"));
  contents.catalogue.attributes["a"]["units"] = text_attribute("units", std::string_view("K"));
  const auto text = encode_index(contents);
  ASSERT_TRUE(text.ok());
  const auto read = decode_index(*text, "raw", "/some/folder");
  ASSERT_TRUE(read.ok()) << read.status().message() << *text;
  EXPECT_EQ(read->catalogue.attributes, contents.catalogue.attributes) << *text;
}

TEST(Index, EveryDtype) {
  for (const ElementType& type : every_type())
    for (const bool swapped : {false, true}) {
      const auto read = dtype_is_swapped(dtype_of(type, swapped), type);
      ASSERT_TRUE(read.ok()) << dtype_of(type, swapped);
      EXPECT_EQ(*read, swapped && scalar_bytes(type) > 1);
    }
  EXPECT_FALSE(dtype_is_swapped("<f4", {Kind::f64, 0}).ok());
  EXPECT_FALSE(dtype_is_swapped("f8", {Kind::f64, 0}).ok());
  EXPECT_FALSE(dtype_is_swapped("", {Kind::f64, 0}).ok());
}

// One value of the sample, by JSON pointer, and its replacement.
struct Lie {
  const char* pointer;
  const char* value;
};

void PrintTo(const Lie& lie, std::ostream* out) { *out << lie.pointer << " = " << lie.value; }

class IndexLie : public ::testing::TestWithParam<Lie> {};

TEST_P(IndexLie, IsDamaged) {
  json root = json::parse(*encode_index(sample()));
  const json value = json::parse(GetParam().value);
  root[json::json_pointer(GetParam().pointer)] = value;
  const auto read = decode_index(root.dump(), "raw", "/some/folder");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), Code::damaged) << read.status().message();
}

INSTANTIATE_TEST_SUITE_P(
    Lies, IndexLie,
    ::testing::Values(
        Lie{"/schema", "\"penstock.index/2\""}, Lie{"/schema", "1"}, Lie{"/format", "\"hdf5\""}, Lie{"/format", "null"},
        Lie{"/generation", "[]"}, Lie{"/replaced", "6"}, Lie{"/parts", "{}"}, Lie{"/parts/0", "\"../x\""},
        Lie{"/parts/0", "\"/etc/passwd\""}, Lie{"/parts/0", "\"..\""}, Lie{"/parts/0", "\"\""},
        Lie{"/parts/0", "\"a/b\""}, Lie{"/parts/0", "3"}, Lie{"/parts/0", "\"\\u00002e\\u00002e\""},
        Lie{"/parts/0", "\"x\\u000000\""}, Lie{"/parts/0", "\"x\\u0000\""},
        Lie{"/parts/0", "\"heat.g00000000000000a7.1\""}, Lie{"/datasets", "{}"}, Lie{"/datasets/0", "[]"},
        Lie{"/datasets/0/name", "\"../a\""}, Lie{"/datasets/0/name", "\"\""}, Lie{"/datasets/0/name", "\"/a\""},
        Lie{"/datasets/0/name", "\"_penstock/x\""}, Lie{"/datasets/0/name", "\"zzz\""},
        Lie{"/datasets/0/name", "\"fluid\""}, Lie{"/datasets/0/name", "\"fluid/runs\""},
        Lie{"/datasets/0/type", "\"f128\""}, Lie{"/datasets/0/type", "\"text[-1]\""},
        Lie{"/datasets/0/type", "\"text[99999999999999999999]\""}, Lie{"/datasets/0/dtype", "\"<f4\""},
        Lie{"/datasets/0/shape", "[-1]"}, Lie{"/datasets/0/shape", "[1.5]"}, Lie{"/datasets/0/shape", "\"x\""},
        Lie{"/datasets/0/shape", "[4294967296,4294967296]"}, Lie{"/datasets/0/shape", "[18446744073709551615]"},
        Lie{"/datasets/0/shape", "[1,1,1,1,1,1,1,1,1]"}, Lie{"/datasets/0/unlimited", "0"},
        Lie{"/datasets/3/unlimited", "true"}, Lie{"/datasets/0/blocks", "7"}, Lie{"/datasets/0/blocks/0", "7"},
        Lie{"/datasets/0/blocks/0/part", "2"}, Lie{"/datasets/0/blocks/0/part", "-1"},
        Lie{"/datasets/0/blocks/0/offset", "-8"}, Lie{"/datasets/0/blocks/0/offset", "9223372036854775800"},
        Lie{"/datasets/0/blocks/0/offset", "1e3"}, Lie{"/datasets/0/blocks/0/start", "[1,0]"},
        Lie{"/datasets/0/blocks/0/start", "[0]"}, Lie{"/datasets/0/blocks/0/start", "[0,1]"},
        Lie{"/datasets/0/blocks/0/count", "[4,4]"}, Lie{"/datasets/0/blocks/0/count", "[9223372036854775807,1]"},
        Lie{"/datasets/1/blocks/0/runs", "[[0,3],[2,2]]"}, Lie{"/datasets/1/blocks/0/runs", "[[8,2],[0,3]]"},
        Lie{"/datasets/1/blocks/0/runs", "[[0,11]]"}, Lie{"/datasets/1/blocks/0/runs", "[[0]]"},
        Lie{"/datasets/1/blocks/0/runs", "[[0,-3]]"}, Lie{"/datasets/1/blocks/0/runs", "[[1,3],[8,2]]"},
        Lie{"/datasets/1/blocks/0/runs", "[[9223372036854775807,9223372036854775807]]"},
        Lie{"/datasets/1/blocks/0/offset", "90"}, Lie{"/datasets/3/file", "\"elsewhere\""},
        Lie{"/datasets/3/file", "1"}, Lie{"/datasets/3/offset", "-1"}, Lie{"/datasets/3/offset", "9223372036854775807"},
        Lie{"/datasets/4/file", "\"elsewhere\""}, Lie{"/datasets/4/dtype", "\">f4\""}, Lie{"/datasets/4/chunk", "[2]"},
        Lie{"/datasets/4/chunk", "[0,4]"}, Lie{"/datasets/4/chunk", "[6,4]"}, Lie{"/datasets/4/chunk", "7"},
        Lie{"/datasets/4/shape", "[5,0]"}, Lie{"/datasets/4/shape", "[5]"}, Lie{"/datasets/4/filters", "[]"},
        Lie{"/datasets/4/filters", "{}"}, Lie{"/datasets/4/filters/0", "2"}, Lie{"/datasets/4/filters/0/id", "-1"},
        Lie{"/datasets/4/filters/0/id", "65536"}, Lie{"/datasets/4/filters/0/values", "4"},
        Lie{"/datasets/4/filters/0/values", "[4294967296]"}, Lie{"/datasets/4/filters/0/values", "[\"4\"]"},
        Lie{"/datasets/4/chunks", "{}"}, Lie{"/datasets/4/chunks/0", "0"}, Lie{"/datasets/4/chunks/0", "[0,20000,30]"},
        Lie{"/datasets/4/chunks/0/0", "3"}, Lie{"/datasets/4/chunks/0/0", "-1"}, Lie{"/datasets/4/chunks/2/0", "6"},
        Lie{"/datasets/4/chunks/0/1", "-1"}, Lie{"/datasets/4/chunks/0/1", "9223372036854775807"},
        Lie{"/datasets/4/chunks/0/1", "20001"}, Lie{"/datasets/4/chunks/0/1", "4100"},
        Lie{"/datasets/4/chunks/0/2", "0"}, Lie{"/datasets/4/chunks/0/2", "33"}, Lie{"/datasets/4/chunks/0/3", "4"},
        Lie{"/attributes", "[]"}, Lie{"/attributes/..", "{}"}, Lie{"/attributes/a", "[]"},
        Lie{"/attributes/a~1b", "{}"}, Lie{"/attributes/a", "{\"x\":1}"},
        Lie{"/attributes/a", "{\"x\":{\"type\":\"u8\",\"value\":256}}"},
        Lie{"/attributes/a", "{\"x\":{\"type\":\"u8\",\"value\":\"NaN\"}}"},
        Lie{"/attributes/a", "{\"x\":{\"type\":\"f64\",\"value\":\"NaN:xyz\"}}"},
        Lie{"/attributes/a", "{\"x\":{\"type\":\"f64\",\"value\":null}}"},
        Lie{"/attributes/a", "{\"x\":{\"type\":\"f32\",\"value\":1e300}}"},
        Lie{"/attributes/a", "{\"x\":{\"type\":\"f64\",\"shape\":[1000000],\"value\":[1]}}"},
        Lie{"/attributes/a", "{\"x\":{\"type\":\"text[2]\",\"value\":\"abc\"}}"},
        Lie{"/attributes/a", "{\"x\":{\"type\":\"text[99999999999]\",\"value\":\"abc\"}}"},
        Lie{"/attributes/a", "{\"x\":{\"type\":\"complex64\",\"value\":[1]}}"}, Lie{"/heads", "[]"},
        Lie{"/heads", "{}"}, Lie{"/heads/0", "7"}, Lie{"/heads/0/bytes", "-1"}, Lie{"/heads/1/crc64", "\"0123\""},
        Lie{"/parity", "[]"}, Lie{"/parity", "{}"}, Lie{"/parity/file", "\"../x\""},
        Lie{"/parity/file", "\"/etc/passwd\""}, Lie{"/parity/file", "\"heat.g00000000000000a7.1\""},
        Lie{"/parity/file", "7"}, Lie{"/parity/file", "\"thesis.tex\""}, Lie{"/parity/file", "\"thesis.parity\""},
        Lie{"/parity/file", "\"heat.g00000000000000a6.parity\""}, Lie{"/parity/file", "\"heat.g00000000000000a7.tex\""},
        Lie{"/generation", "\"x/../../y\""}, Lie{"/generation", "\"\""}, Lie{"/generation", "\"00000000000000A7\""},
        Lie{"/replaced", "\"../y\""}, Lie{"/parity/bytes", "-1"}, Lie{"/parity/bytes", "5001"},
        Lie{"/parity/crc64", "\"0123\""}, Lie{"/parity/crc64", "1"},
        Lie{"/parity/crc64", "\"012345678901234567890123456789ab\""}, Lie{"/parity/parts", "{}"},
        Lie{"/parity/parts", "[]"}, Lie{"/parity/parts/1", "7"}, Lie{"/parity/parts/1/bytes", "9223372036854775807"},
        Lie{"/parity/parts/0/crc64", "\"xxxxxxxxxxxxxxxx\""}));

TEST(Index, SurvivesEveryCutAndManyFlips) {
  const std::string text = *encode_index(sample());
  for (size_t cut = 0; cut + 2 < text.size(); ++cut)
    EXPECT_EQ(decode_index(text.substr(0, cut), "raw", "").status().code(), Code::damaged) << cut;
  for (size_t at = 0; at < text.size(); ++at)
    for (const char c : {'\0', '0', '9', '"', '}', '\xff', '-'}) {
      std::string bad = text;
      bad[at] = c;
      (void)decode_index(bad, "raw", "");
    }
  EXPECT_FALSE(decode_index(std::string(100000, '['), "raw", "").ok());
}

// Nothing of it is opened in a way that waits or leads out of the folder.
TEST(Index, PartsThatAreNoFilesOfTheFolderAreLost) {
  namespace fs = std::filesystem;
  const testing::Scratch scratch;
  fs::create_directories(scratch.path("in/folder"));
  testing::write_text(scratch.path("secret"), std::string(4096, 'x'));
  testing::write_text(scratch.path("in/whole"), std::string(4096, 'x'));
  fs::create_symlink("../secret", scratch.path("in/out"));
  fs::create_symlink(scratch.path("secret"), scratch.path("in/absolute"));
  fs::create_symlink("absolute", scratch.path("in/chain"));
  fs::create_symlink("/dev/zero", scratch.path("in/device"));
  fs::create_symlink("device", scratch.path("in/loop"));
  fs::create_symlink("nowhere", scratch.path("in/dangling"));
  fs::create_symlink("whole", scratch.path("in/beside"));
  ASSERT_EQ(::mkfifo(scratch.path("in/fifo").c_str(), 0600), 0);
  for (const std::string name :
       {"out", "absolute", "chain", "device", "loop", "dangling", "fifo", "folder", "beside", "whole"}) {
    Contents contents;
    contents.format = "raw";
    contents.parts = {scratch.path("in/" + name)};
    contents.catalogue.datasets = {{"a", {Kind::u8}, Dims{100}, false}};
    contents.blocks = {{{0, 0, false, Selection::whole(Dims{100})}}};
    contents.foreign = {false};
    ASSERT_TRUE(find_lost(contents).ok()) << name;
    const bool whole = name == "whole" || name == "beside";
    ASSERT_EQ(contents.lost.size(), whole ? 0 : 1) << name;
    if (whole) continue;
    EXPECT_NE(contents.lost[0].why.message().find("/in/" + name), std::string::npos) << contents.lost[0].why.message();
    EXPECT_TRUE(contents.blocks[0].empty()) << name;
  }
}

TEST(Index, TwoPartsOfOneName) {
  Contents contents = sample();
  contents.parts = {"/a/x", "/b/x"};
  EXPECT_EQ(encode_index(contents).status().code(), Code::invalid);
}

TEST(Index, HundredsOfThousandsOfRunsAreQuick) {
  Contents contents;
  contents.format = "raw";
  contents.parts = {"p"};
  constexpr int64_t count = 500000;
  contents.catalogue.datasets = {{"r", {Kind::f64, 0}, Dims{3 * count}, false}};
  std::vector<penstock::Run> runs;
  for (int64_t i = 0; i < count; ++i) runs.push_back({3 * i, 2});
  contents.blocks = {{{0, 0, false, Selection::of_runs(Dims{3 * count}, runs)}}};
  contents.foreign = {false};
  const auto start = std::chrono::steady_clock::now();
  const std::string text = *encode_index(contents);
  const auto encoded = std::chrono::steady_clock::now();
  const auto read = decode_index(text, "raw", "");
  const auto decoded = std::chrono::steady_clock::now();
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto ns = [](auto d) { return std::chrono::duration<double, std::nano>(d).count() / count; };
  std::printf("encode %.0f ns, decode %.0f ns, %.0f bytes per run\n", ns(encoded - start), ns(decoded - encoded),
              static_cast<double>(text.size()) / count);
}

}  // namespace
}  // namespace penstock
