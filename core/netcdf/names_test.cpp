// Tests of names and notes: round trips, no collisions, and every name is valid in the netCDF libraries.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/netcdf/names.hpp"
#include "core/netcdf/note.hpp"

namespace penstock::netcdf {
namespace {

// The rules of NC_check_name in the C library, for names in well-formed UTF-8.
bool is_legal(const std::string& name) {
  const auto first = static_cast<unsigned char>(name.empty() ? 0 : name[0]);
  if (!(std::isalnum(first) != 0 || first == '_' || first >= 0x80)) return false;
  for (const char c : name)
    if ((static_cast<unsigned char>(c) < 0x20) || c == 0x7f || c == '/') return false;
  return name.back() != ' ';
}

std::string random_text(std::mt19937& random, std::string_view letters, size_t most) {
  std::string text(1 + random() % most, '\0');
  for (char& c : text) c = letters[random() % letters.size()];
  return text;
}

TEST(NetcdfNames, Examples) {
  EXPECT_EQ(encode_name("rho"), "rho");
  EXPECT_EQ(encode_name("fluid/rho"), "fluid__rho");
  EXPECT_EQ(encode_name("wind_speed/v_x"), "wind_speed__v_x");
  EXPECT_EQ(encode_name("a__b"), "a%5F%5Fb");
  EXPECT_EQ(encode_name("a/_b"), "a__%5Fb");
  EXPECT_EQ(encode_name("-x"), "_%2Dx");
  EXPECT_EQ(encode_name("_%"), "_%5F%25");
  EXPECT_EQ(encode_name("50% "), "50%25%20");
  EXPECT_EQ(encode_name("temp\xc3\xa9rature"), "temp\xc3\xa9rature");
  EXPECT_EQ(encode_name("a\xff"), "a%FF");
  EXPECT_EQ(encode_attribute_name("", "_penstock"), "_%5Fpenstock");
  EXPECT_EQ(encode_attribute_name("", "a/b"), "a%2Fb");
  EXPECT_EQ(encode_attribute_name("fluid/gas", "kind"), "fluid__gas__kind");
}

TEST(NetcdfNames, RoundTripWithoutCollisions) {
  std::mt19937 random(7);
  std::map<std::string, std::string> seen;
  for (int i = 0; i < 200000; ++i) {
    const std::string name = random_text(random, "__//%%5Fab -.\x01\xc3\xa9\x7f", 7);
    const std::string encoded = encode_name(name);
    // The empty parts between slashes in such texts are not valid in penstock.
    if (name.find("//") != std::string::npos || name.front() == '/' || name.back() == '/') continue;
    ASSERT_TRUE(is_legal(encoded)) << encoded;
    ASSERT_EQ(decode_name(encoded), name) << encoded;
    ASSERT_EQ(seen.try_emplace(encoded, name).first->second, name);
  }
}

TEST(NetcdfNames, AttributesOfGroupsAndOfTheFileDoNotMeet) {
  std::mt19937 random(8);
  std::map<std::string, std::pair<std::string, std::string>> seen;
  for (int i = 0; i < 200000; ++i) {
    std::string group = i % 2 == 0 ? "" : random_text(random, "_/%ab", 4);
    if (group.find("//") != std::string::npos || group.starts_with('/') || group.ends_with('/')) continue;
    const std::string attribute = i % 5 == 0 ? "_penstock" : random_text(random, "__//%%5Fab- ", 6);
    const std::string encoded = encode_attribute_name(group, attribute);
    ASSERT_TRUE(is_legal(encoded)) << encoded;
    ASSERT_NE(encoded, own_attribute);
    const AttributeName decoded = decode_attribute_name(encoded);
    ASSERT_EQ(decoded.group, group) << encoded;
    ASSERT_EQ(decoded.attribute, attribute) << encoded;
    ASSERT_EQ(seen.try_emplace(encoded, group, attribute).first->second, std::pair(group, attribute));
  }
}

TEST(NetcdfNote, RoundTrips) {
  Note note;
  note.conventions = true;
  note.type = ElementType{Kind::complex64};
  note.shape = Dims{3, 0, 5};
  note.unlimited = true;
  note.attributes["x"] = {{Kind::text, 9}, Dims{2}, true};
  const Note back = parse_note(print_note(note));
  EXPECT_TRUE(back.conventions);
  EXPECT_EQ(back.type, note.type);
  EXPECT_EQ(back.shape, note.shape);
  EXPECT_EQ(back.unlimited, note.unlimited);
  ASSERT_TRUE(back.attributes.contains("x"));
  EXPECT_EQ(back.attributes.at("x").type, (ElementType{Kind::text, 9}));
  EXPECT_TRUE(back.attributes.at("x").joined);
  EXPECT_TRUE(parse_note(print_note({})).empty());
}

TEST(NetcdfNote, NonsenseIsNoNote) {
  for (const char* text :
       {"", "{", "[]", "7", R"({"type":"f16","shape":[-1],"unlimited":3})", R"({"shape":[1,2,3,4,5,6,7,8,9]})",
        R"({"attributes":{"a":{"type":"f64"},"b":[]}})", R"({"shape":[18446744073709551615]})"})
    EXPECT_TRUE(parse_note(text).empty()) << text;
}

TEST(NetcdfNote, ANoteThatNoLongerFitsIsNotBelieved) {
  Note note;
  const double values[] = {1, 2, 3, 4};
  const Attribute complex = make_attribute("z", {Kind::complex128}, values, 2);
  Attribute plain = to_plain(complex, "z", note);
  EXPECT_EQ(from_plain(plain, "z", note), complex);
  const Attribute edited = make_attribute("z", {Kind::f64}, values, 3);
  EXPECT_EQ(from_plain(edited, "z", note), edited);
  const Attribute text = text_attribute("z", "now a text");
  EXPECT_EQ(from_plain(text, "z", note), text);
}

TEST(NetcdfNote, AnyAttributeReadsBack) {
  std::mt19937 random(9);
  for (int i = 0; i < 20000; ++i) {
    const auto kind = static_cast<Kind>(random() % kind_count);
    const int64_t n = static_cast<int64_t>(random() % 4);
    Attribute a;
    a.name = "a";
    a.type = {kind, kind == Kind::text ? static_cast<int64_t>(1 + random() % 5) : 0};
    if (const auto rank = random() % 3; rank == 1)
      a.shape = Dims{n};
    else if (rank == 2)
      a.shape = Dims{n, 2};
    int64_t count = 1;
    for (const int64_t extent : a.shape) count *= extent;
    a.value.resize(static_cast<size_t>(count * bytes(a.type)));
    constexpr std::string_view letters("ab\n\0\0", 5);
    for (auto& b : a.value) b = static_cast<std::byte>(kind == Kind::text ? letters[random() % 5] : random());
    Note note;
    const Attribute plain = to_plain(a, "key", note);
    EXPECT_LE(plain.shape.rank(), 1);
    ASSERT_EQ(from_plain(plain, "a", parse_note(print_note(note))), a) << print_note(note);
  }
}

}  // namespace
}  // namespace penstock::netcdf
