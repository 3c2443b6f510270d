// TomlLine: takes one line of a small TOML file apart. The files have [[headers]] and values on one line.
// (toml++ 3.3 of Debian aborts on invalid files; docs/decisions/0001.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct TomlEntry;

struct TomlValue {
  enum class Kind : uint8_t { text, integer, number, boolean, list, table };
  Kind kind = Kind::text;
  std::string text;     // of a string; numbers and booleans as they are written
  int64_t integer = 0;  // also 1 of true
  std::vector<TomlValue> list;
  std::vector<TomlEntry> table;  // { a = 1, b = 2 }
};

struct TomlEntry {
  std::string key;
  TomlValue value;
};

class TomlLine {
 public:
  explicit TomlLine(std::string_view rest);

  bool at_end() const { return rest_.empty() || rest_.front() == '#'; }
  bool take(char c);
  // The name in a header [[NAME]].
  std::optional<std::string> take_header();
  std::string_view take_key();
  // Nothing if no string ends on this line, or if it has invalid characters.
  std::optional<std::string> take_string();
  // Nothing if there is no value that ends on this line.
  std::optional<TomlValue> take_value(int depth = 0);

 private:
  std::optional<TomlValue> take_word();
  std::optional<TomlValue> take_list(int depth);
  std::optional<TomlValue> take_table(int depth);
  void skip_blanks();

  std::string_view rest_;
};

}  // namespace penstock
