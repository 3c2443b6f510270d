// Settings: parameter values, validated when they are set.
#include "core/model/settings.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/nearest.hpp"
#include "core/base/units.hpp"
#include "core/base/words.hpp"

namespace penstock {
namespace {

Result<int64_t> number(std::string_view text) {
  if (const auto value = parse_number<int64_t>(text)) return *value;
  return Status(Code::invalid, fmt::format("'{}' is no whole number", text));
}

}  // namespace

Status Settings::set(const Parameter& parameter, std::string_view value) {
  std::string stored(value);
  switch (parameter.type) {
    case Parameter::Type::choice:
    case Parameter::Type::boolean: {
      const std::string_view allowed = parameter.type == Parameter::Type::boolean ? "true|false" : parameter.allowed;
      if (const auto choices = split(allowed, '|'); std::ranges::find(choices, value) == choices.end())
        return {Code::invalid, fmt::format("{}={}: the values are {}", parameter.name, value, allowed)};
      break;
    }
    case Parameter::Type::integer:
    case Parameter::Type::bytes: {
      const auto parsed = parameter.type == Parameter::Type::bytes ? parse_bytes(value) : number(value);
      if (!parsed.ok()) return parsed.status().in(parameter.name);
      const auto least = number(parameter.allowed);
      if (least.ok() && *parsed < *least)
        return {Code::invalid, fmt::format("{}={}: at least {} is needed", parameter.name, value, *least)};
      stored = std::to_string(*parsed);
      break;
    }
    case Parameter::Type::text:
      if (value.find(',') != std::string_view::npos)  // the separator of plans
        return {Code::invalid, fmt::format("{}={}: a value in a plan cannot have a comma", parameter.name, value)};
      break;
  }
  values_.insert_or_assign(std::string(parameter.name), std::move(stored));
  return {};
}

const std::string& Settings::word(std::string_view name) const {
  static const std::string none;
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}
bool Settings::boolean(std::string_view name) const { return word(name) == "true"; }
int64_t Settings::integer(std::string_view name) const { return parse_number<int64_t>(word(name)).value_or(0); }
double Settings::real(std::string_view name) const { return parse_number<double>(word(name)).value_or(0); }

Result<std::map<std::string, std::string>> split_parameters(std::string_view text) {
  std::map<std::string, std::string> parameters;
  std::string last;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos && last.starts_with("hint.")) {  // hint.cb_config_list=a:1,b:1
      parameters[last] += fmt::format(",{}", item);
      continue;
    }
    if (equals == std::string_view::npos || equals == 0)
      return Status(Code::invalid, fmt::format("'{}' is no name=value", item));
    last = item.substr(0, equals);
    if (!parameters.try_emplace(last, item.substr(equals + 1)).second)
      return Status(Code::invalid, fmt::format("'{}' is set twice", last));
  }
  return parameters;
}

Result<Settings> parse_settings(std::string_view text, const Descriptor& descriptor) {
  Settings settings;
  for (const Parameter& parameter : descriptor.parameters) PENSTOCK_TRY(settings.set(parameter, parameter.fallback));
  PENSTOCK_ASSIGN(const auto words, split_parameters(text));
  for (const auto& [word, value] : words) {
    const auto known = std::ranges::find(descriptor.parameters, word, &Parameter::name);
    if (known == descriptor.parameters.end()) {
      std::vector<std::string> names;
      for (const Parameter& p : descriptor.parameters) names.emplace_back(p.name);
      return Status(Code::invalid, fmt::format("{} has no parameter '{}'; it has {}{}", descriptor.name, word,
                                               fmt::join(names, ", "), did_you_mean(word, names)));
    }
    PENSTOCK_TRY(settings.set(*known, value));
  }
  return settings;
}

}  // namespace penstock
