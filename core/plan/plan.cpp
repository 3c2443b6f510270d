// Plan: parsing and printing.
#include "core/plan/plan.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace penstock {
namespace {

constexpr std::string_view default_transport = "two_phase";

constexpr Alias alias_table[] = {
    {"per_process", "independent", "placement=per_rank,preallocate=false", "one file for each rank, plus an index"},
    {"gather", "two_phase", "writers=1", "everything through one writer, in bounded memory"},
};

const Descriptor* find(const std::vector<const Descriptor*>& list, std::string_view name) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const Descriptor* d) { return d->name == name; });
  return at == list.end() ? nullptr : *at;
}

std::string names(const std::vector<const Descriptor*>& list) {
  std::vector<std::string_view> words;
  for (const Descriptor* d : list) words.push_back(d->name);
  return fmt::format("{}", fmt::join(words, ", "));
}

// Words of a plan before they mean anything.
struct Words {
  std::string format, transport;
  std::map<std::string, std::string> parameters;
};

Status add_parameters(Words& words, std::string_view list) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return {Code::invalid, fmt::format("'{}' in a plan is no name=value", item)};
    words.parameters[std::string(item.substr(0, equals))] = std::string(item.substr(equals + 1));
  }
  return {};
}

Result<Words> split_text(std::string_view text) {
  Words words;
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view head = text.substr(0, colon);
  const size_t slash = head.find('/');
  if (slash != std::string_view::npos) words.format = head.substr(0, slash);
  words.transport = slash == std::string_view::npos ? head : head.substr(slash + 1);
  if (colon < text.size()) PENSTOCK_TRY(add_parameters(words, text.substr(colon + 1)));
  return words;
}

Result<Words> split_json(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object())
    return Status(Code::invalid, "a plan in JSON must be an object such as {\"transport\": \"two_phase\"}");
  Words words;
  for (const auto& [key, value] : json.items()) {
    const std::string word = value.is_string() ? value.get<std::string>() : value.dump();
    if (key == "format")
      words.format = word;
    else if (key == "transport")
      words.transport = word;
    else
      words.parameters[key] = word;
  }
  return words;
}

std::vector<const Parameter*> parameters_of(const Plan& plan, const Catalog& catalog) {
  std::vector<const Parameter*> all;
  const auto add = [&](const Descriptor* d) {
    if (d != nullptr)
      for (const Parameter& p : d->parameters) all.push_back(&p);
  };
  add(catalog.common);
  add(find(catalog.formats, plan.format));
  add(find(catalog.placements, plan.placement));
  add(find(catalog.transports, plan.transport));
  return all;
}

Status choose(const Descriptor* found, std::string_view kind, std::string_view word,
              const std::vector<const Descriptor*>& list) {
  if (found == nullptr)
    return {Code::invalid, fmt::format("there is no {} '{}'; there are {}", kind, word, names(list))};
  if (!found->missing.empty())
    return {Code::unsupported, fmt::format("{} '{}' is not built: {}", kind, word, found->missing)};
  return {};
}

}  // namespace

std::span<const Alias> aliases() { return alias_table; }

Result<Plan> parse_plan(std::string_view text, std::string_view fallback_format, const Catalog& catalog) {
  PENSTOCK_ASSIGN(Words words, text.starts_with('{') ? split_json(text) : split_text(text));
  if (words.format.empty() && find(catalog.formats, words.transport) != nullptr)
    std::swap(words.format, words.transport);
  if (words.format.empty()) words.format = fallback_format;
  if (words.transport.empty()) words.transport = default_transport;
  for (const Alias& alias : aliases()) {
    if (alias.name != words.transport) continue;
    words.transport = alias.transport;
    Words implied;
    PENSTOCK_TRY(add_parameters(implied, alias.parameters));
    words.parameters.merge(implied.parameters);  // what was written wins
  }

  Plan plan;
  plan.format = words.format;
  plan.transport = words.transport;
  plan.placement = words.parameters.contains("placement") ? words.parameters["placement"] : "single";
  PENSTOCK_TRY(choose(find(catalog.formats, plan.format), "format", plan.format, catalog.formats));
  if (find(catalog.transports, plan.transport) == nullptr) {
    std::string known = names(catalog.transports);
    for (const Alias& alias : aliases()) known += fmt::format(", {}", alias.name);
    return Status(Code::invalid, fmt::format("there is no transport '{}'; there are {}", plan.transport, known));
  }
  PENSTOCK_TRY(choose(find(catalog.transports, plan.transport), "transport", plan.transport, catalog.transports));
  PENSTOCK_TRY(choose(find(catalog.placements, plan.placement), "placement", plan.placement, catalog.placements));

  const auto known = parameters_of(plan, catalog);
  for (const Parameter* p : known) PENSTOCK_TRY(plan.settings.set(*p, p->fallback));
  for (const auto& [name, value] : words.parameters) {
    const auto at = std::find_if(known.begin(), known.end(), [&](const Parameter* p) { return p->name == name; });
    if (at == known.end()) {
      std::vector<std::string_view> list;
      for (const Parameter* p : known) list.push_back(p->name);
      return Status(Code::invalid, fmt::format("'{}/{}' has no parameter '{}'; it has {}", plan.format, plan.transport,
                                               name, fmt::join(list, ", ")));
    }
    PENSTOCK_TRY(plan.settings.set(**at, value));
  }
  return plan;
}

std::string Plan::text(const Catalog& catalog) const {
  std::map<std::string_view, std::string_view> changed;
  for (const Parameter* p : parameters_of(*this, catalog)) {
    Settings fallback;
    if (fallback.set(*p, p->fallback).ok() && fallback.word(p->name) != settings.word(p->name))
      changed[p->name] = settings.word(p->name);
  }
  std::string out = fmt::format("{}/{}", format, transport);
  char separator = ':';
  for (const auto& [name, value] : changed) {
    out += fmt::format("{}{}={}", separator, name, value);
    separator = ',';
  }
  return out;
}

std::string Plan::json() const {
  nlohmann::ordered_json json;
  json["format"] = format;
  json["placement"] = placement;
  json["transport"] = transport;
  for (const auto& [name, value] : settings.all()) json[name] = value;
  return json.dump();
}

}  // namespace penstock
