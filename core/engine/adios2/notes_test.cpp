// Tests of notes: properties that ADIOS2 cannot express read back; meaningless notes are rejected.
#include "core/engine/adios2/notes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::bp5 {
namespace {

TEST(Notes, OfDatasetsComeBack) {
  const Dataset list[] = {{"a", {Kind::text, 11}, {19, 7}, true},
                          {"b", {Kind::f64, 0}, {}, false},
                          {"c", {Kind::complex64, 0}, {0, 4}, false},
                          {"d", {Kind::u8, 0}, {2, 3, 2, 3, 2, 3, 2, 3}, false}};
  for (const Dataset& dataset : list) {
    const auto back = parse_note(dataset.name, note_of(dataset));
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(*back, dataset);
  }
  EXPECT_EQ(note_of(list[0]), "text[11] 19,7 unlimited");
}

TEST(Notes, ThatSayNothingAreRefused) {
  for (const char* note : {"", "f64", "f65 3", "f64 3,", "f64 3;4", "f64 -3", "f64 3 limited", "f64 x",
                           "f64 1,1,1,1,1,1,1,1,1", "f64 9223372036854775807,3"})
    EXPECT_FALSE(parse_note("a", note).ok()) << note;
}

TEST(Notes, AttributesThatComeBackByThemselves) {
  const int32_t numbers[] = {1, 2};
  const std::vector<std::string> texts{"one", "", "three and more"}, one{"one"};
  const std::string nul("a\0b", 3), padded("a\0", 2);
  EXPECT_TRUE(is_plain(make_attribute("a", {Kind::i32, 0}, numbers, 2)));
  EXPECT_TRUE(is_plain(make_attribute("a", {Kind::i32, 0}, numbers, -1)));
  EXPECT_FALSE(is_plain(make_attribute("a", {Kind::i32, 0}, numbers, 1)));
  EXPECT_FALSE(is_plain(make_attribute("a", {Kind::i32, 0}, numbers, 0)));
  EXPECT_FALSE(is_plain(make_attribute("a", {Kind::complex64, 0}, numbers, -1)));
  EXPECT_FALSE(is_plain({"a", {Kind::i32, 0}, {1, 2}, std::vector<std::byte>(8)}));
  EXPECT_TRUE(is_plain(text_attribute("a", "units")));
  EXPECT_TRUE(is_plain(text_attribute("a", "")));
  EXPECT_TRUE(is_plain(text_attribute("a", texts)));
  EXPECT_FALSE(is_plain(text_attribute("a", one)));
  EXPECT_FALSE(is_plain(text_attribute("a", nul)));
  EXPECT_FALSE(is_plain(text_attribute("a", padded)));
  EXPECT_FALSE(is_plain(text_attribute("a", std::string(5000, 'x'))));
}

TEST(Notes, NamesThatCannotBeToldApartAreRefused) {
  for (const char* name : {"a/b", "_penstock", "_penstock_type"}) {
    Catalogue catalogue;
    catalogue.attributes["x"].emplace(name, text_attribute(name, "y"));
    EXPECT_EQ(check_names_of(catalogue).code(), Code::unsupported) << name;
  }
}

}  // namespace
}  // namespace penstock::bp5
