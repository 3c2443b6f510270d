// Plan: parses and prints plans.
#include "core/plan/plan.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/nearest.hpp"
#include "core/base/utf8.hpp"

namespace penstock {
namespace {

constexpr std::string_view default_word = "auto";

constexpr Alias alias_table[] = {
    {"per_process", "independent", "placement=per_rank,preallocate=false", "one file for each rank, plus an index"},
    {"gather", "two_phase", "writers=1", "everything through one writer, in bounded memory"},
    {"subfiles", "two_phase", "placement=parts", "M files, each a slab of every dataset, and a master"},
};

const Descriptor* find(const std::vector<const Descriptor*>& list, std::string_view name) {
  const auto at = std::ranges::find(list, name, &Descriptor::name);
  return at == list.end() ? nullptr : *at;
}

std::vector<std::string> words_of(const std::vector<const Descriptor*>& list) {
  std::vector<std::string> words;
  for (const Descriptor* d : list) words.emplace_back(d->name);
  return words;
}

std::string names(const std::vector<const Descriptor*>& list) {
  return fmt::format("{}", fmt::join(words_of(list), ", "));
}

// The words of a plan before interpretation.
struct Words {
  std::string format, transport;
  std::map<std::string, std::string> parameters;
};

Result<Words> split_text(std::string_view text) {
  Words words;
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view head = text.substr(0, colon);
  if (head.find('=') != std::string_view::npos) {
    const size_t blank = head.find(' ');
    if (blank < head.find('='))
      return Status(Code::invalid, fmt::format("'{}' has a blank where a colon separates the method from its "
                                               "parameters: '{}:{}'",
                                               text, text.substr(0, blank), text.substr(blank + 1)));
    return Status(Code::invalid, fmt::format("'{}' begins with a parameter: ':{}' is the default plan with it, "
                                             "'two_phase:{}' a transport",
                                             text, text, text));
  }
  const size_t slash = head.find('/');
  if (slash != std::string_view::npos) words.format = head.substr(0, slash);
  words.transport = slash == std::string_view::npos ? head : head.substr(slash + 1);
  if (colon < text.size()) {
    PENSTOCK_ASSIGN(words.parameters, split_parameters(text.substr(colon + 1)));
  }
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
    else if (key == "transport" || key == "engine")
      words.transport = word;
    else
      words.parameters[key] = word;
  }
  return words;
}

std::vector<const Parameter*> parameters_of(const Plan& plan, const Vocabulary& vocabulary) {
  std::vector<const Parameter*> all;
  const auto add = [&](const Descriptor* d) {
    if (d != nullptr)
      for (const Parameter& p : d->parameters) all.push_back(&p);
  };
  add(plan.engine.empty() ? vocabulary.common : vocabulary.engine_common);
  add(find(vocabulary.engines, plan.engine));
  add(find(vocabulary.formats, plan.format));
  add(find(vocabulary.placements, plan.placement));
  add(find(vocabulary.transports, plan.transport));
  return all;
}

Status choose(const std::vector<const Descriptor*>& list, std::string_view kind, std::string_view word) {
  const Descriptor* found = find(list, word);
  if (found == nullptr)
    return {Code::invalid, fmt::format("there is no {} '{}'{}; there are {}", kind, word,
                                       did_you_mean(word, words_of(list)), names(list))};
  if (!found->missing.empty())
    return {Code::unsupported, fmt::format("{} '{}' is not built: {}", kind, word, found->missing)};
  return {};
}

// The placement that "layout" and "parts" imply, in the terms of MPI-IO and subfiles.
Status imply_placement(Words& words) {
  if (const auto at = words.parameters.find("layout"); at != words.parameters.end()) {
    if (at->second != "global" && at->second != "chunks")
      return {Code::invalid, fmt::format("layout={}: the values are global|chunks", at->second)};
    words.parameters.try_emplace("placement", at->second == "chunks" ? "rank_order" : "single");
    words.parameters.erase(at);
  }
  if (words.parameters.contains("parts")) words.parameters.try_emplace("placement", "parts");
  return {};
}

// A plan of ONE_WORD may mean a format, a transport or an engine.
Status choose_transport(const Plan& plan, bool one_word, const Vocabulary& vocabulary) {
  if (find(vocabulary.engines, plan.transport) != nullptr)
    return {Code::invalid,
            fmt::format("'{}' is an engine, which has a format of its own: name it alone", plan.transport)};
  if (find(vocabulary.transports, plan.transport) == nullptr) {
    std::string known = names(vocabulary.transports);
    std::vector<std::string> alike = words_of(vocabulary.transports);
    for (const Alias& alias : aliases()) {
      known += fmt::format(", {}", alias.name);
      alike.emplace_back(alias.name);
    }
    const auto offer = [&](std::string_view kind, const std::vector<const Descriptor*>& list) {
      if (list.empty()) return;
      known += fmt::format("; the {} {}", kind, names(list));
      for (const std::string& word : words_of(list)) alike.push_back(word);
    };
    if (one_word) {
      offer("formats", vocabulary.formats);
      offer("engines", vocabulary.engines);
    }
    return {Code::invalid,
            fmt::format("there is no {} '{}'{}; there are {}{}", one_word ? "format, transport or engine" : "transport",
                        plan.transport, did_you_mean(plan.transport, alike), one_word ? "the transports " : "", known)};
  }
  return choose(vocabulary.transports, "transport", plan.transport);
}

std::string way(const Plan& plan) {
  return plan.engine.empty() ? fmt::format("{}/{}", plan.format, plan.transport) : plan.engine;
}

Status set_parameters(Plan& plan, const Words& words, const Vocabulary& vocabulary) {
  const auto known = parameters_of(plan, vocabulary);
  for (const Parameter* p : known) PENSTOCK_TRY(plan.settings.set(*p, p->fallback));
  for (const auto& [name, value] : words.parameters) {
    const auto at = std::ranges::find(known, name, &Parameter::name);
    if (at == known.end()) {
      std::vector<std::string> list;
      for (const Parameter* p : known) list.emplace_back(p->name);
      return {Code::invalid, fmt::format("'{}' has no parameter '{}'{}; it has {}", way(plan), name,
                                         did_you_mean(name, list), fmt::join(list, ", "))};
    }
    PENSTOCK_TRY(plan.settings.set(**at, value));
  }
  return {};
}

Status take_knobs_of(Words& words, Plan& plan, const Descriptor& method) {
  PENSTOCK_ASSIGN(KnobParameters knobs, take_knobs(words.parameters));
  if (!knobs.hints.empty() && !method.hints)
    return {Code::invalid, fmt::format("'{}' does not use MPI-IO, so it has no use for 'hint.{}'", method.name,
                                       knobs.hints.begin()->first)};
  plan.hints = std::move(knobs.hints);
  plan.environment = std::move(knobs.environment);
  return {};
}

}  // namespace

std::span<const Alias> aliases() { return alias_table; }

Result<Plan> parse_plan(std::string_view text, std::string_view fallback_format, const Vocabulary& vocabulary) {
  if (const size_t at = first_no_utf8(text); at < text.size())
    return Status(Code::invalid, fmt::format("a plan is text in UTF-8; its byte {} is not", at + 1));
  if (text == "learn") text = "auto:learn=20";
  PENSTOCK_ASSIGN(Words words, text.starts_with('{') ? split_json(text) : split_text(text));
  Plan plan;
  if (words.format.empty() && find(vocabulary.engines, words.transport) != nullptr) {
    plan.engine = words.transport;
    PENSTOCK_TRY(choose(vocabulary.engines, "engine", plan.engine));
    PENSTOCK_TRY(take_knobs_of(words, plan, *find(vocabulary.engines, plan.engine)));
    PENSTOCK_TRY(set_parameters(plan, words, vocabulary));
    return plan;
  }
  if (words.format.empty() && find(vocabulary.formats, words.transport) != nullptr)
    std::swap(words.format, words.transport);
  const bool one_word = words.format.empty();
  if (words.format.empty() && fallback_format.empty())
    return Status(Code::invalid, fmt::format("it names no format; there are {}", names(vocabulary.formats)));
  if (words.format.empty()) words.format = fallback_format;
  const bool names_none = words.transport.empty() || words.transport == default_word;
  if (names_none) words.transport = default_transport;
  for (const Alias& alias : aliases()) {
    if (alias.name != words.transport) continue;
    words.transport = alias.transport;
    PENSTOCK_ASSIGN(auto implied, split_parameters(alias.parameters));
    words.parameters.merge(implied);  // explicit parameters take precedence
  }
  PENSTOCK_TRY(imply_placement(words));
  plan.format = words.format;
  plan.transport = words.transport;
  plan.placement = words.parameters.contains("placement") ? words.parameters["placement"] : "single";
  PENSTOCK_TRY(choose(vocabulary.formats, "format", plan.format));
  PENSTOCK_TRY(choose_transport(plan, one_word, vocabulary));
  PENSTOCK_TRY(choose(vocabulary.placements, "placement", plan.placement));
  PENSTOCK_TRY(take_knobs_of(words, plan, *find(vocabulary.transports, plan.transport)));
  PENSTOCK_TRY(set_parameters(plan, words, vocabulary));
  const auto& of_transport = find(vocabulary.transports, plan.transport)->parameters;
  plan.open_transport = names_none && std::ranges::none_of(of_transport, [&](const Parameter& p) {
                          return words.parameters.contains(std::string(p.name));
                        });
  return plan;
}

Result<Plan> with_transport(const Plan& plan, std::string_view text, const Vocabulary& vocabulary) {
  PENSTOCK_ASSIGN(Plan other, parse_plan(fmt::format("{}/{}", plan.format, text), plan.format, vocabulary));
  constexpr std::string_view stripes = "stripe_count";
  const auto& of_transport = find(vocabulary.transports, other.transport)->parameters;
  for (const Parameter* p : parameters_of(other, vocabulary)) {
    if (std::ranges::find(of_transport, p->name, &Parameter::name) != of_transport.end() || p->name == stripes)
      continue;
    Settings fallback;
    PENSTOCK_TRY(fallback.set(*p, p->fallback));
    if (other.settings.word(p->name) != fallback.word(p->name))
      return Status(Code::invalid, fmt::format("'{}' is no parameter of transport '{}'", p->name, other.transport));
  }
  if (!other.environment.empty())
    return Status(Code::invalid, fmt::format("'env.{}' cannot be set by now", other.environment.begin()->first));
  Plan chosen = plan;
  chosen.transport = other.transport;
  chosen.hints = other.hints;
  chosen.settings = {};
  for (const Parameter* p : parameters_of(chosen, vocabulary)) {
    const bool is_new = std::ranges::find(of_transport, p->name, &Parameter::name) != of_transport.end() ||
                        (p->name == stripes && plan.settings.integer(stripes) == 0);
    PENSTOCK_TRY(chosen.settings.set(*p, (is_new ? other : plan).settings.word(p->name)));
  }
  return chosen;
}

std::string Plan::text(const Vocabulary& vocabulary) const {
  std::map<std::string, std::string> changed = knob_parameters(hints, environment);
  for (const Parameter* p : parameters_of(*this, vocabulary)) {
    Settings fallback;
    if (fallback.set(*p, p->fallback).ok() && fallback.word(p->name) != settings.word(p->name))
      changed[std::string(p->name)] = settings.word(p->name);
  }
  std::string out = way(*this);
  char separator = ':';
  for (const auto& [name, value] : changed) {
    out += fmt::format("{}{}={}", separator, name, value);
    separator = ',';
  }
  return out;
}

std::string Plan::json() const {
  nlohmann::ordered_json json;
  if (engine.empty()) {
    json["format"] = format;
    json["placement"] = placement;
    json["transport"] = transport;
  } else {
    json["engine"] = engine;
  }
  for (const auto& [name, value] : settings.all()) json[name] = value;
  for (const auto& [name, value] : knob_parameters(hints, environment)) json[name] = value;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);  // hints may come from the environment
}

}  // namespace penstock
