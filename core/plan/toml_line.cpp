// TomlLine: characters from left to right; blanks are skipped behind each part.
#include "core/plan/toml_line.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/words.hpp"

namespace penstock {
namespace {

constexpr int max_depth = 4;  // of lists and tables in each other
constexpr std::string_view key_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
constexpr std::string_view word_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.";

}  // namespace

TomlLine::TomlLine(std::string_view rest) : rest_(rest) { skip_blanks(); }

void TomlLine::skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size())); }

bool TomlLine::take(char c) {
  if (!rest_.starts_with(c)) return false;
  rest_.remove_prefix(1);
  skip_blanks();
  return true;
}

std::optional<std::string> TomlLine::take_header() {
  if (!rest_.starts_with("[[")) return {};
  rest_.remove_prefix(2);
  skip_blanks();
  const std::string name(take_key());
  if (!rest_.starts_with("]]")) return {};
  rest_.remove_prefix(2);
  skip_blanks();
  return name;
}

std::string_view TomlLine::take_key() {
  const std::string_view key = rest_.substr(0, rest_.find_first_not_of(key_letters));
  rest_.remove_prefix(key.size());
  skip_blanks();
  return key;
}

std::optional<std::string> TomlLine::take_string() {
  if (!rest_.starts_with('"') && !rest_.starts_with('\'')) return {};
  const char quote = rest_.front();
  std::string text;
  for (size_t i = 1; i < rest_.size(); ++i) {
    char c = rest_[i];
    if (c == quote) {
      rest_.remove_prefix(i + 1);
      skip_blanks();
      return text;
    }
    if (c == '\\' && quote == '"') {
      c = ++i < rest_.size() ? rest_[i] : '\0';
      if (c != '\\' && c != '"') return {};
    } else if (static_cast<unsigned char>(c) < ' ' && c != '\t') {
      return {};
    }
    text += c;
  }
  return {};
}

std::optional<TomlValue> TomlLine::take_value(int depth) {
  if (rest_.starts_with('"') || rest_.starts_with('\'')) {
    auto text = take_string();
    if (!text) return {};
    return TomlValue{TomlValue::Kind::text, *std::move(text), 0, {}, {}};
  }
  if (depth == max_depth) return {};
  if (take('[')) return take_list(depth);
  return take('{') ? take_table(depth) : take_word();
}

std::optional<TomlValue> TomlLine::take_word() {
  TomlValue value;
  value.text = rest_.substr(0, rest_.find_first_not_of(word_letters));
  rest_.remove_prefix(value.text.size());
  skip_blanks();
  std::erase(value.text, '_');
  if (value.text.starts_with('+')) value.text.erase(0, 1);
  if (value.text == "true" || value.text == "false") {
    value.kind = TomlValue::Kind::boolean;
    value.integer = value.text == "true" ? 1 : 0;
  } else if (const auto integer = parse_number<int64_t>(value.text)) {
    value.kind = TomlValue::Kind::integer;
    value.integer = *integer;
  } else if (const auto number = parse_number<double>(value.text); number && std::isfinite(*number)) {
    value.kind = TomlValue::Kind::number;
  } else {
    return {};
  }
  return value;
}

std::optional<TomlValue> TomlLine::take_list(int depth) {
  TomlValue all{TomlValue::Kind::list, {}, 0, {}, {}};
  while (!take(']')) {
    auto one = take_value(depth + 1);
    if (!one) return {};
    all.list.push_back(*std::move(one));
    if (!take(',') && !rest_.starts_with(']')) return {};
  }
  return all;
}

std::optional<TomlValue> TomlLine::take_table(int depth) {
  TomlValue all{TomlValue::Kind::table, {}, 0, {}, {}};
  while (!take('}')) {
    std::string key(take_key());
    if (key.empty() || !take('=')) return {};
    auto one = take_value(depth + 1);
    if (!one) return {};
    all.table.push_back({std::move(key), *std::move(one)});
    if (!take(',') && !rest_.starts_with('}')) return {};
  }
  return all;
}

}  // namespace penstock
