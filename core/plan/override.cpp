// Override: PENSTOCK_PLAN and the file of patterns.
#include "core/plan/override.hpp"

#include <fnmatch.h>

#include <fstream>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/plan/hints.hpp"
#include "core/plan/toml_line.hpp"

namespace penstock {
namespace {

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
      PENSTOCK_TRY(read_line(number, TomlLine(text)));
    }
    if (!in.is_open() || in.bad()) return {Code::not_found, file_ + ": the file of plans cannot be read"};
    return check_last();
  }

  std::optional<std::string> plan_for(const std::string& path) const {
    for (const Entry& entry : entries_)
      if (matches_path(*entry.pattern, path)) return entry.plan;
    return {};
  }

 private:
  Status wrong(int line, std::string_view what) const {
    return {Code::invalid, fmt::format("{}:{}: {}", file_, line, what)};
  }

  Status read_line(int number, TomlLine line) {
    if (line.at_end()) return {};
    if (line.take_header() == "plan" && line.at_end()) {
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

bool matches_path(const std::string& pattern, const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return ::fnmatch(pattern.c_str(), path.c_str(), 0) == 0 || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

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
