// Tests of the model: types, attributes, names, catalogues, decompositions and settings.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <random>

#include <penstock/decomposition.hpp>

#include "core/model/catalogue.hpp"
#include "core/model/layout.hpp"
#include "core/model/settings.hpp"
#include "core/model/widen.hpp"

namespace penstock {
namespace {

TEST(Type, NamesRoundTrip) {
  for (int kind = 0; kind < kind_count; ++kind) {
    const ElementType type{static_cast<Kind>(kind), static_cast<Kind>(kind) == Kind::text ? 16 : 0};
    const auto parsed = parse_type(name(type));
    ASSERT_TRUE(parsed.ok()) << name(type);
    EXPECT_EQ(*parsed, type);
    EXPECT_GT(bytes(type), 0);
    EXPECT_EQ(bytes(type) % scalar_bytes(type), 0);
  }
  EXPECT_EQ(name({Kind::text, 16}), "text[16]");
  EXPECT_EQ(bytes({Kind::complex128}), 16);
  EXPECT_EQ(scalar_bytes({Kind::complex128}), 8);
  EXPECT_EQ(scalar_bytes({Kind::text, 9}), 1);
  EXPECT_EQ(type_of<std::complex<float>>(), ElementType{Kind::complex64});
  EXPECT_EQ(type_of<uint16_t>(), ElementType{Kind::u16});
}

TEST(Widen, OnlyWhatHoldsEveryValue) {
  const auto yes = [](Kind from, Kind to) { return widens({from}, {to}); };
  EXPECT_TRUE(yes(Kind::f32, Kind::f64) && yes(Kind::i32, Kind::f64) && yes(Kind::u16, Kind::f32));
  EXPECT_TRUE(yes(Kind::u8, Kind::i16) && yes(Kind::u32, Kind::i64) && yes(Kind::i8, Kind::i64));
  EXPECT_TRUE(yes(Kind::complex64, Kind::complex128) && yes(Kind::f64, Kind::complex128) &&
              yes(Kind::i16, Kind::complex64));
  EXPECT_FALSE(yes(Kind::f64, Kind::f32) || yes(Kind::i64, Kind::f64) || yes(Kind::i32, Kind::f32));
  EXPECT_FALSE(yes(Kind::i8, Kind::u64) || yes(Kind::u8, Kind::i8) || yes(Kind::f32, Kind::i64));
  EXPECT_FALSE(yes(Kind::complex64, Kind::f64) || yes(Kind::f64, Kind::complex64));
  EXPECT_TRUE(widens({Kind::text, 3}, {Kind::text, 8}) && !widens({Kind::text, 8}, {Kind::text, 3}));
  EXPECT_FALSE(widens({Kind::text, 1}, {Kind::i8}) || widens({Kind::i8}, {Kind::text, 4}));
  for (int kind = 0; kind < static_cast<int>(Kind::text); ++kind)
    EXPECT_TRUE(yes(static_cast<Kind>(kind), static_cast<Kind>(kind)));
}

template <typename From, typename To>
void expect_widened(ElementType from, ElementType to, const std::vector<From>& values) {
  for (const size_t count : {size_t{0}, size_t{1}, values.size()}) {
    std::vector<To> wide(count);
    std::byte* out = reinterpret_cast<std::byte*>(wide.data());
    if (count > 0) std::memcpy(out + count * (sizeof(To) - sizeof(From)), values.data(), count * sizeof(From));
    widen_in_place(from, to, out, static_cast<int64_t>(count));
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(wide[i], To(values[i])) << name(from) << " " << name(to) << " " << i;
  }
}

TEST(Widen, InTheSameMemory) {
  std::vector<float> floats;
  std::vector<int8_t> bytes_;
  std::vector<uint32_t> words;
  for (int i = 0; i < 1000; ++i) {
    floats.push_back(static_cast<float>(i) / 7 - 50);
    bytes_.push_back(static_cast<int8_t>(i));
    words.push_back(0xFFFFFFFFu - static_cast<uint32_t>(i));
  }
  expect_widened<float, double>({Kind::f32}, {Kind::f64}, floats);
  expect_widened<float, std::complex<double>>({Kind::f32}, {Kind::complex128}, floats);
  expect_widened<int8_t, int64_t>({Kind::i8}, {Kind::i64}, bytes_);
  expect_widened<int8_t, float>({Kind::i8}, {Kind::f32}, bytes_);
  expect_widened<uint32_t, double>({Kind::u32}, {Kind::f64}, words);
  expect_widened<uint32_t, int64_t>({Kind::u32}, {Kind::i64}, words);
  std::string texts = std::string(6, '.') + "abcdefghi";
  widen_in_place({Kind::text, 3}, {Kind::text, 5}, reinterpret_cast<std::byte*>(texts.data()), 3);
  EXPECT_EQ(texts, std::string("abc\0\0def\0\0ghi\0\0", 15));
}

TEST(Type, NonsenseIsNamed) {
  for (const char* word : {"", "f16", "text", "text[]", "text[0]", "text[-1]", "text[4", "text[4]x", "F64",
                           "text[99999999999999999999]"}) {
    const auto parsed = parse_type(word);
    ASSERT_FALSE(parsed.ok()) << word;
    EXPECT_EQ(parsed.status().code(), Code::invalid);
    EXPECT_NE(parsed.status().message().find(word), std::string::npos) << parsed.status().message();
  }
}

TEST(Attribute, Texts) {
  const Attribute units = text_attribute("units", "kg m-3");
  EXPECT_EQ(units.type, (ElementType{Kind::text, 6}));
  EXPECT_EQ(units.shape.rank(), 0);
  EXPECT_EQ(text(units), "kg m-3");
  const Attribute empty = text_attribute("empty", "");
  EXPECT_EQ(empty.type.text_bytes, 1);
  EXPECT_EQ(text(empty), "");
  const std::string list[] = {"a", "", "ccc"};
  const Attribute texts = text_attribute("list", list);
  EXPECT_EQ(texts.type.text_bytes, 3);
  EXPECT_EQ(texts.shape, Dims{3});
  EXPECT_EQ(texts.value.size(), 9u);
  const Attribute none = text_attribute("none", std::span<const std::string>());
  EXPECT_EQ(none.shape, Dims{0});
}

TEST(Attribute, Numbers) {
  const double values[] = {1, 2, 3};
  const Attribute scalar = make_attribute("s", {Kind::f64}, values, -1),
                  array = make_attribute("a", {Kind::f64}, values, 3);
  EXPECT_EQ(scalar.shape.rank(), 0);
  EXPECT_EQ(scalar.value.size(), 8u);
  EXPECT_EQ(array.shape, Dims{3});
  EXPECT_TRUE(std::ranges::equal(array.value, std::as_bytes(std::span(values))));
  EXPECT_EQ(make_attribute("e", {Kind::i32}, nullptr, 0).value.size(), 0u);
  EXPECT_NE(scalar, array);
  EXPECT_EQ(text(array), "");
}

TEST(Names, SlashesAreDroppedAndBadNamesAreRefused) {
  for (const char* good : {"rho", "/rho"}) EXPECT_EQ(*dataset_name(good), "rho") << good;
  for (const char* group : {"g", "/g"}) EXPECT_EQ(*object_name(group), "g") << group;
  for (const char* bad : {"rho/", "//rho", "rho//", "//"})
    EXPECT_EQ(dataset_name(bad).status().code(), Code::invalid) << bad;
  for (const char* bad : {"//", "//g", "g/", "/g/", "g//"})
    EXPECT_EQ(object_name(bad).status().code(), Code::invalid) << bad;
  EXPECT_EQ(*dataset_name("fluid/rho"), "fluid/rho");
  EXPECT_EQ(*dataset_name("a b/ü.x"), "a b/ü.x");
  EXPECT_EQ(*dataset_name("x/_penstock"), "x/_penstock");
  EXPECT_EQ(*object_name(""), "");
  EXPECT_EQ(*object_name("/"), "");
  const std::string nul("a\0b", 3), longest(1000, 'x'), longer(1001, 'x');
  EXPECT_TRUE(dataset_name(longest).ok());
  for (const std::string& bad : {std::string(), std::string("/"), std::string("a//b"), std::string("."),
                                 std::string(".."), std::string("a/../b"), std::string("_penstock"),
                                 std::string("_penstock/crc"), std::string("/_penstock"), nul, longer}) {
    const auto stored = dataset_name(bad);
    ASSERT_FALSE(stored.ok()) << bad;
    EXPECT_EQ(stored.status().code(), Code::invalid) << bad;
  }
}

Catalogue example() {
  Catalogue c;
  c.datasets = {
      {"a", {Kind::f64}, {2, 3}, false}, {"b/c", {Kind::text, 7}, {0, 4}, true}, {"d", {Kind::i8}, {}, false}};
  c.attributes[""]["title"] = text_attribute("title", "all");
  c.attributes["b/c"]["units"] = text_attribute("units", "");
  c.attributes["b"]["n"] = make_attribute("n", {Kind::i32}, "abcd", -1);
  return c;
}

TEST(Catalogue, EncodeRoundTripsAndCutsAreRefused) {
  const Catalogue c = example();
  const auto bytes = encode(c);
  const auto back = decode_catalogue(bytes);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->datasets, c.datasets);
  EXPECT_EQ(back->attributes, c.attributes);
  for (size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_FALSE(decode_catalogue(std::span(bytes).first(cut)).ok()) << cut;
  std::mt19937_64 random(4711);
  for (int i = 0; i < 2000; ++i) {  // any answer, but no crash
    auto noise = bytes;
    for (int k = 0; k < 3; ++k) noise[random() % noise.size()] = std::byte(random());
    (void)decode_catalogue(noise);
  }
}

TEST(Catalogue, FindAndDescribe) {
  const Catalogue c = example();
  EXPECT_EQ(c.index_of("b/c"), 1);
  EXPECT_EQ(c.index_of("b"), -1);
  EXPECT_EQ(c.find("zzz"), nullptr);
  EXPECT_EQ(c.find("d")->name, "d");
  EXPECT_EQ(describe(Dataset{"x", {Kind::f64}, {100, 200}}), "f64 (100, 200)");
  EXPECT_EQ(describe(Dims()), "()");
  EXPECT_EQ(elements({}), 1);
  EXPECT_EQ(elements({3, 0, INT64_MAX}), 0);
  EXPECT_EQ(bytes(c.datasets[1]), 0);
}

TEST(Catalogue, ANameIsADatasetOrAGroup) {
  Catalogue c = example();
  EXPECT_TRUE(check_names(c).ok());
  c.datasets.insert(c.datasets.begin() + 1, {"a/inside", {Kind::f64}, {1}, false});
  const Status status = check_names(c);
  EXPECT_EQ(status.code(), Code::invalid);
  EXPECT_NE(status.message().find("'a'"), std::string::npos) << status.message();
  // Sorting puts "a.b" between "a" and "a/b".
  Catalogue hidden;
  hidden.datasets = {{"a", {Kind::f64}, {1}}, {"a.b", {Kind::f64}, {1}}, {"a/b", {Kind::f64}, {1}}};
  EXPECT_FALSE(check_names(hidden).ok());
}

TEST(Shapes, WhatFitsIn63Bits) {
  EXPECT_TRUE(check_shape({Kind::f64}, {}).ok());
  EXPECT_TRUE(check_shape({Kind::f64}, {0}).ok());
  EXPECT_TRUE(check_shape({Kind::i8}, {INT64_MAX}).ok());
  EXPECT_FALSE(check_shape({Kind::f64}, {INT64_MAX}).ok());
  EXPECT_FALSE(check_shape({Kind::i8}, {int64_t{1} << 32, int64_t{1} << 31}).ok());
  EXPECT_FALSE(check_shape({Kind::i8}, {-1}).ok());
  EXPECT_FALSE(check_shape({Kind::i8}, {0, -1}).ok());
  EXPECT_FALSE(check_shape({Kind::text, 0}, {1}).ok());
  EXPECT_FALSE(check_shape({Kind::text, (1 << 24) + 1}, {1}).ok());
  EXPECT_TRUE(check_shape({Kind::text, 1 << 24}, {1}).ok());
}

TEST(Decomposition, BlocksMustLieInTheirShape) {
  using D = Decomposition;
  EXPECT_EQ(D::block({10, 20}, {2, 3}, {4, 5})->elements(), 20);
  EXPECT_EQ(D::block({}, {}, {})->elements(), 1);
  EXPECT_EQ(D::block({10}, {10}, {0})->elements(), 0);
  EXPECT_EQ(D::block({0, 5}, {0, 0}, {0, 5})->elements(), 0);
  const Result<Decomposition> bad[] = {D::block({10}, {5}, {6}),
                                       D::block({10}, {-1}, {2}),
                                       D::block({10}, {0}, {-2}),
                                       D::block({10, 10}, {0}, {1}),
                                       D::block({10}, {0, 0}, {1, 1}),
                                       D::block({-1}, {0}, {0}),
                                       D::block({10}, {INT64_MAX}, {2}),
                                       D::block({10}, {2}, {INT64_MAX}),
                                       D::block({int64_t{1} << 40, int64_t{1} << 40}, {0, 0}, {1, 1})};
  for (const auto& d : bad) {
    ASSERT_FALSE(d.ok());
    EXPECT_EQ(d.status().code(), Code::invalid);
    EXPECT_FALSE(d.status().message().empty());
  }
}

TEST(Decomposition, RunsMustLieInTheirShapeAndApart) {
  const penstock::Run good[] = {{7, 3}, {0, 2}, {5, 0}, {2, 5}}, outside[] = {{8, 3}}, negative[] = {{-1, 2}},
                      backward[] = {{3, -1}}, overlapping[] = {{4, 3}, {0, 5}}, huge[] = {{INT64_MAX, 1}},
                      touching[] = {{5, 0}, {4, 3}};
  EXPECT_EQ(Decomposition::runs({10}, good)->elements(), 10);
  EXPECT_EQ(Decomposition::runs({0}, {})->elements(), 0);
  EXPECT_TRUE(Decomposition::runs({2, 5}, touching).ok());
  EXPECT_EQ(Decomposition::runs({10}, outside).status().code(), Code::invalid);
  EXPECT_EQ(Decomposition::runs({10}, negative).status().code(), Code::invalid);
  EXPECT_EQ(Decomposition::runs({10}, backward).status().code(), Code::invalid);
  EXPECT_EQ(Decomposition::runs({10}, huge).status().code(), Code::invalid);
  EXPECT_FALSE(Decomposition::runs({10}, overlapping).ok());
}

TEST(Decomposition, OtherForms) {
  EXPECT_EQ(Decomposition::ragged(5, {3, 2})->elements(), 30);
  EXPECT_EQ(Decomposition::ragged(0, {})->elements(), 0);
  EXPECT_FALSE(Decomposition::ragged(-1, {}).ok());
  EXPECT_FALSE(Decomposition::ragged(1, {-1}).ok());
  EXPECT_FALSE(Decomposition::ragged(1, Dims::filled(8, 1)).ok());
  EXPECT_FALSE(Decomposition::ragged(INT64_MAX, {INT64_MAX}).ok());
  EXPECT_EQ(Decomposition::replicated({4, 4})->elements(), 16);
  EXPECT_EQ(Decomposition::per_rank({7})->elements(), 7);
  EXPECT_FALSE(Decomposition::per_rank(Dims::filled(8, 1)).ok());
  EXPECT_EQ(Decomposition::boxes({4, 4}, {})->elements(), 0);
  const Box two[] = {{{0, 0}, {2, 4}}, {{2, 1}, {1, 1}}};
  EXPECT_EQ(Decomposition::boxes({4, 4}, two)->elements(), 9);
}

TEST(Decomposition, GridsTileExactly) {
  std::mt19937_64 random(99);
  for (int round = 0; round < 800; ++round) {
    Dims shape, grid;
    const auto rank = static_cast<int>(random() % 4);
    for (int d = 0; d < rank; ++d)
      shape.push_back(static_cast<int64_t>(random() % 12)), grid.push_back(1 + static_cast<int64_t>(random() % 4));
    std::vector<int> held(static_cast<size_t>(elements(shape)));
    for (int process = 0; process < elements(grid) + 3; ++process) {
      const auto part = Decomposition::grid(shape, grid, process);
      ASSERT_TRUE(part.ok()) << part.status().message();
      if (process >= elements(grid)) {
        EXPECT_EQ(part->elements(), 0);
      }
      for (const Box& box : part->box_list()) {
        Dims index = box.start;
        for (int64_t i = 0; i < elements(box.count); ++i) {
          int64_t offset = 0;
          for (int d = 0; d < rank; ++d) offset = offset * shape[d] + index[d];
          ++held[static_cast<size_t>(offset)];
          for (int d = rank - 1; d >= 0 && ++index[d] == box.start[d] + box.count[d]; --d) index[d] = box.start[d];
        }
      }
    }
    EXPECT_TRUE(std::all_of(held.begin(), held.end(), [](int n) { return n == 1; }))
        << describe(shape) << " over " << describe(grid);
  }
  // The first blocks take the remainder.
  EXPECT_EQ(Decomposition::grid({10}, {4}, 0)->box_list()[0], (Box{{0}, {3}}));
  EXPECT_EQ(Decomposition::grid({10}, {4}, 2)->box_list()[0], (Box{{6}, {2}}));
  EXPECT_FALSE(Decomposition::grid({10}, {0}, 0).ok());
  EXPECT_FALSE(Decomposition::grid({10}, {2, 2}, 0).ok());
  EXPECT_FALSE(Decomposition::grid({10}, {2}, -1).ok());
}

TEST(Memory, InsideAnArray) {
  const Memory memory = Memory::inside({6, 7, 8}, {1, 2, 3});
  EXPECT_EQ(memory.offset, 1 * 56 + 2 * 8 + 3);
  EXPECT_EQ(memory.stride, (Dims{56, 8, 1}));
}

TEST(Contents, EncodeRoundTrips) {
  Contents c;
  c.format = "raw";
  c.generation = "17";
  c.replaced = "16";
  c.catalogue = example();
  c.parts = {"x.0", "x.1"};
  const penstock::Run runs[] = {{3, 2}};
  c.blocks = {
      {{1, 4096, true, Selection::of_box({2, 3}, {{0, 1}, {2, 2}})}, {0, 8, false, Selection::of_runs({2, 3}, runs)}},
      {},
      {{0, 0, false, Selection::whole({})}}};
  c.foreign = {false, true, false};
  const auto bytes = encode(c);
  const auto back = decode_contents(bytes);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->format, c.format);
  EXPECT_EQ(back->generation, c.generation);
  EXPECT_EQ(back->replaced, c.replaced);
  EXPECT_EQ(back->catalogue.datasets, c.catalogue.datasets);
  EXPECT_EQ(back->parts, c.parts);
  EXPECT_EQ(back->foreign, c.foreign);
  ASSERT_EQ(back->blocks.size(), 3u);
  ASSERT_EQ(back->blocks[0].size(), 2u);
  EXPECT_EQ(back->blocks[0][0].base, 4096);
  EXPECT_TRUE(back->blocks[0][0].swapped);
  EXPECT_EQ(back->blocks[0][0].where.count(), 4);
  EXPECT_EQ(back->blocks[0][1].where.first(), 3);
  for (size_t cut = 0; cut < bytes.size(); cut += 3)
    EXPECT_FALSE(decode_contents(std::span(bytes).first(cut)).ok()) << cut;
}

TEST(Settings, ValuesAreCheckedAgainstTheirParameter) {
  const Parameter writers{"writers", Parameter::Type::integer, "1", "1", ""},
      buffer{"buffer_bytes", Parameter::Type::bytes, "4096", "4194304", ""},
      io{"io", Parameter::Type::choice, "buffered|direct|mmap", "buffered", ""},
      sync{"sync", Parameter::Type::boolean, "", "true", ""},
      scratch{"scratch", Parameter::Type::text, "a folder", "", ""};
  Settings settings;
  EXPECT_TRUE(settings.set(writers, "3").ok());
  EXPECT_TRUE(settings.set(buffer, "64KiB").ok());
  EXPECT_TRUE(settings.set(io, "direct").ok());
  EXPECT_TRUE(settings.set(sync, "false").ok());
  EXPECT_TRUE(settings.set(scratch, "").ok());
  EXPECT_TRUE(settings.set(scratch, "/local/a b=c").ok());
  EXPECT_EQ(settings.word("scratch"), "/local/a b=c");
  EXPECT_EQ(settings.integer("writers"), 3);
  EXPECT_EQ(settings.integer("buffer_bytes"), 65536);
  EXPECT_EQ(settings.word("io"), "direct");
  EXPECT_FALSE(settings.boolean("sync"));
  for (const auto& [parameter, value] : {std::pair{&writers, "0"},
                                         {&writers, "-3"},
                                         {&writers, "many"},
                                         {&writers, "3x"},
                                         {&writers, ""},
                                         {&buffer, "1k"},
                                         {&buffer, "x"},
                                         {&io, "dir"},
                                         {&io, ""},
                                         {&io, "direct|mmap"},
                                         {&sync, "yes"},
                                         {&scratch, "/a,b"}}) {
    const Status status = settings.set(*parameter, value);
    ASSERT_EQ(status.code(), Code::invalid) << parameter->name << "=" << value;
    EXPECT_NE(status.message().find(parameter->name), std::string::npos) << status.message();
  }
  EXPECT_EQ(settings.integer("writers"), 3);
}

}  // namespace
}  // namespace penstock
