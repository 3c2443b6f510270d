// Override: PENSTOCK_PLAN and the file of patterns.
#include "core/plan/override.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/plan/hints.hpp"

namespace penstock {
namespace {

bool matches(const std::string& pattern, const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return ::fnmatch(pattern.c_str(), path.c_str(), 0) == 0 || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

// The part of TOML that plans need: headers [[plan]], lines KEY = "STRING" or KEY = 'STRING', comments. Everything else
// is an error, with its line. (toml++ 3.3 of Debian aborts on invalid files; docs/decisions/0001.)
class Line {
 public:
  explicit Line(std::string_view rest) : rest_(rest) { skip_blanks(); }

  bool at_end() const { return rest_.empty() || rest_.front() == '#'; }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    skip_blanks();
    return true;
  }

  bool take_header() {
    if (!rest_.starts_with("[[")) return false;
    rest_.remove_prefix(2);
    skip_blanks();
    if (take_key() != "plan" || !rest_.starts_with("]]")) return false;
    rest_.remove_prefix(2);
    skip_blanks();
    return true;
  }

  std::string_view take_key() {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const std::string_view key = rest_.substr(0, rest_.find_first_not_of(letters));
    rest_.remove_prefix(key.size());
    skip_blanks();
    return key;
  }

  // Nothing if no string ends on this line, or if it has invalid characters.
  std::optional<std::string> take_string() {
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

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size())); }

  std::string_view rest_;
};

struct Entry {
  int line = 0;  // of its header
  std::optional<std::string> pattern, plan;
};

class Plans {
 public:
  explicit Plans(std::string file) : file_(std::move(file)) {}

  // Checks every entry, so that a mistake appears with the first file, not only with the file concerned.
  Status read() {
    std::ifstream in(file_, std::ios::binary);
    std::string text;
    for (int number = 1; std::getline(in, text); ++number) {
      if (number == 1 && text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // some editors add this mark for UTF-8
      PENSTOCK_TRY(read_line(number, Line(text)));
    }
    if (!in.is_open() || in.bad()) return {Code::not_found, file_ + ": the file of plans cannot be read"};
    return check_last();
  }

  std::optional<std::string> plan_for(const std::string& path) const {
    for (const Entry& entry : entries_)
      if (matches(*entry.pattern, path)) return entry.plan;
    return {};
  }

 private:
  Status wrong(int line, std::string_view what) const {
    return {Code::invalid, fmt::format("{}:{}: {}", file_, line, what)};
  }

  Status read_line(int number, Line line) {
    if (line.at_end()) return {};
    if (line.take_header() && line.at_end()) {
      PENSTOCK_TRY(check_last());
      entries_.push_back({number, {}, {}});
      return {};
    }
    const std::string key(line.take_key());
    if (entries_.empty() || key.empty() || !line.take('='))
      return wrong(number,
                   "a file of plans has [[plan]] entries only, with lines pattern = \"...\" and plan = \"...\"");
    if (key != "pattern" && key != "plan")
      return wrong(number, fmt::format("'{}' is unknown: a [[plan]] has pattern and plan", key));
    auto value = line.take_string();
    if (!value || !line.at_end())
      return wrong(
          number, fmt::format("'{}' must be a string on one line; in double quotes, \\ and \" are \\\\ and \\\"", key));
    auto& place = key == "plan" ? entries_.back().plan : entries_.back().pattern;
    if (place) return wrong(number, fmt::format("this [[plan]] has '{}' twice", key));
    place = std::move(value);
    return {};
  }

  Status check_last() const {
    if (entries_.empty()) return {};
    const Entry& last = entries_.back();
    if (!last.pattern) return wrong(last.line, "this [[plan]] has no 'pattern'");
    if (!last.plan) return wrong(last.line, "this [[plan]] has no 'plan'");
    return {};
  }

  std::string file_;
  std::vector<Entry> entries_;
};

}  // namespace

Result<std::string> plan_override(std::string_view path, std::string_view from_code, const char* const* environment) {
  const auto plan = find_setting(environment, "PENSTOCK_PLAN");
  if (plan && !plan->empty() && !plan->starts_with('@')) return std::string(*plan);
  const auto file = plan && !plan->empty() ? plan->substr(1) : find_setting(environment, "PENSTOCK_PLANS").value_or("");
  if (file.empty()) return std::string(from_code);
  Plans plans{std::string(file)};
  PENSTOCK_TRY(plans.read());
  return plans.plan_for(std::string(path)).value_or(std::string(from_code));
}

}  // namespace penstock
