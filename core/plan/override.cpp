// Override: PENSTOCK_PLAN and the TOML file of patterns.
#include "core/plan/override.hpp"

#include <fnmatch.h>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "core/plan/hints.hpp"

namespace penstock {
namespace {

Status wrong(const std::string& file, const toml::node& at, std::string_view what) {
  return {Code::invalid, fmt::format("{}:{}: {}", file, at.source().begin.line, what)};
}

bool matches(const std::string& pattern, const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return ::fnmatch(pattern.c_str(), path.c_str(), 0) == 0 || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

Result<std::string> word(const std::string& file, const toml::table& entry, std::string_view key) {
  const toml::node* node = entry.get(key);
  if (node == nullptr) return wrong(file, entry, fmt::format("this [[plan]] has no '{}'", key));
  const auto value = node->value<std::string>();
  if (!value) return wrong(file, *node, fmt::format("'{}' must be a string", key));
  return *value;
}

// Every entry is checked, so that a mistake shows with the first file and not with the one it is about.
Result<std::string> look_up(const std::string& file, const std::string& path, std::string_view from_code) {
  const toml::parse_result parsed = toml::parse_file(file);
  if (!parsed)
    return Status(Code::invalid,
                  fmt::format("{}:{}: {}", file, parsed.error().source().begin.line, parsed.error().description()));
  for (const auto& [key, value] : parsed.table())
    if (key.str() != "plan" || !value.is_array_of_tables())
      return wrong(file, value, fmt::format("'{}' is unknown: a file of plans has [[plan]] entries only", key.str()));
  std::string found(from_code);
  bool any = false;
  const toml::array* entries = parsed.table()["plan"].as_array();
  for (size_t i = 0; entries != nullptr && i < entries->size(); ++i) {
    const toml::table& entry = *entries->get(i)->as_table();
    for (const auto& [key, value] : entry)
      if (key.str() != "pattern" && key.str() != "plan")
        return wrong(file, value, fmt::format("'{}' is unknown: a [[plan]] has pattern and plan", key.str()));
    PENSTOCK_ASSIGN(const std::string pattern, word(file, entry, "pattern"));
    PENSTOCK_ASSIGN(std::string plan, word(file, entry, "plan"));
    if (!any && matches(pattern, path)) found = std::move(plan);
    any = any || matches(pattern, path);
  }
  return found;
}

}  // namespace

Result<std::string> plan_override(std::string_view path, std::string_view from_code, const char* const* environment) {
  const auto plan = find_setting(environment, "PENSTOCK_PLAN");
  if (plan && !plan->empty() && !plan->starts_with('@')) return std::string(*plan);
  const auto file = plan && !plan->empty() ? plan->substr(1) : find_setting(environment, "PENSTOCK_PLANS").value_or("");
  if (file.empty()) return std::string(from_code);
  return look_up(std::string(file), std::string(path), from_code);
}

}  // namespace penstock
