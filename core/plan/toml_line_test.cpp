// Tests of TomlLine: values of each kind, and what is none.
#include "core/plan/toml_line.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using Kind = TomlValue::Kind;

std::optional<TomlValue> value_of(std::string_view text) {
  TomlLine line(text);
  auto value = line.take_value();
  return line.at_end() ? value : std::nullopt;
}

TEST(TomlLine, TakesEachKindOfValue) {
  EXPECT_EQ(value_of("'a\\'  # why")->text, "a\\");
  EXPECT_EQ(value_of("\"a\\\"b\"")->text, "a\"b");
  EXPECT_EQ(value_of("-12")->integer, -12);
  EXPECT_EQ(value_of("+1_000")->integer, 1000);
  EXPECT_EQ(value_of("0.5e-3")->kind, Kind::number);
  EXPECT_EQ(value_of("0.5e-3")->text, "0.5e-3");
  EXPECT_EQ(value_of("true")->integer, 1);
  EXPECT_EQ(value_of("false")->kind, Kind::boolean);
  EXPECT_EQ(value_of("[]")->list.size(), 0U);
  EXPECT_EQ(value_of("[ 1, 'b', [2,], ]")->list.size(), 3U);
  const auto table = value_of("{ start = [1, 2], count=[3 ,4] }");
  ASSERT_TRUE(table.has_value());
  ASSERT_EQ(table->table.size(), 2U);
  EXPECT_EQ(table->table[1].key, "count");
  EXPECT_EQ(table->table[1].value.list[1].integer, 4);
}

TEST(TomlLine, RefusesWhatIsNoValueOnOneLine) {
  for (const char* text : {"", "#", "'a", "\"\\n\"", "[1", "[1 2]", "{a}", "{a=}", "{=1}", "{a=1", "1 2", "yes", "nan",
                           "1979-05-27T07:32:00Z", "[[[[[1]]]]]", "9999999999999999999999999x", "}", "]"})
    EXPECT_FALSE(value_of(text).has_value()) << text;
}

TEST(TomlLine, TakesHeadersAndKeys) {
  EXPECT_EQ(TomlLine(" [[ dataset ]]").take_header(), "dataset");
  EXPECT_EQ(TomlLine("[dataset]").take_header(), std::nullopt);
  EXPECT_EQ(TomlLine("[[a").take_header(), std::nullopt);
  TomlLine line("keep_bits = 3");
  EXPECT_EQ(line.take_key(), "keep_bits");
  EXPECT_TRUE(line.take('='));
}

}  // namespace
}  // namespace penstock
