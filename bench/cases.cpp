// Cases: reads the list and parses it case by case.
#include "bench/cases.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/case_options.hpp"

namespace penstock::bench {

namespace {

constexpr int repetitions_of_an_interval = 6;

Result<nlohmann::json> read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::from_errno(errno, fmt::format("--cases {}", path));
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("cases") || !json["cases"].is_array() ||
      json["cases"].empty())
    return invalid(fmt::format("--cases {}: no JSON object with a list of \"cases\"", path));
  return json;
}

// One object of the list.
struct Entry {
  std::string name, group;
  std::vector<std::string> words;
  std::vector<std::vector<std::string>> rivals;
};

bool is_texts(const nlohmann::json& json) {
  return json.is_array() && std::all_of(json.begin(), json.end(), [](const auto& value) { return value.is_string(); });
}

Result<Entry> entry_of(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("case") || !json["case"].is_string() || !json.contains("words") ||
      !is_texts(json["words"]))
    return invalid("a case is {\"case\": NAME, \"words\": [WORD, ...]}");
  Entry entry{json["case"].get<std::string>(), {}, json["words"].get<std::vector<std::string>>(), {}};
  const nlohmann::json rivals = json.value("rivals", nlohmann::json::array());
  if (!rivals.is_array() || !std::all_of(rivals.begin(), rivals.end(), is_texts))
    return invalid("\"rivals\" is a list of lists of methods");
  entry.rivals = rivals.get<std::vector<std::vector<std::string>>>();
  entry.group = json.contains("group") && json["group"].is_string() ? json["group"].get<std::string>() : entry.name;
  return entry;
}

Status add_case(const Entry& entry, int repetitions, CaseList& list) {
  CLI::App app;
  CaseWords words;
  declare_case(app, words);
  try {
    app.parse(std::vector<std::string>(entry.words.rbegin(), entry.words.rend()));  // CLI11 takes the last one first
  } catch (const CLI::ParseError& error) {
    return invalid(error.what());
  }
  PENSTOCK_TRY(check_case_words(app, words));
  PENSTOCK_ASSIGN(Case made, make_case_without_methods(words));
  made.name = entry.name;
  made.group = entry.group;
  const bool control = app.count("--aa") > 0 ? words.control : repetitions >= repetitions_of_an_interval;
  PENSTOCK_TRY(choose_methods(words.methods, control, made, &list.unavailable));
  if (made.methods.empty()) return {};
  for (Method& method : made.methods)
    for (size_t group = 0; group < entry.rivals.size() && !method.control; ++group)
      if (std::ranges::find(entry.rivals[group], method.label) != entry.rivals[group].end())
        method.rivals = std::to_string(group);
  for (Case& one : beside_competitors(std::move(made))) list.cases.push_back(std::move(one));
  return {};
}

}  // namespace

Result<CaseList> read_cases(const std::string& path, int repetitions) {
  PENSTOCK_ASSIGN(const nlohmann::json json, read_json(path));
  CaseList list;
  if (json.contains("slow_factor")) {
    if (!json["slow_factor"].is_number()) return invalid(fmt::format("--cases {}: slow_factor is a number", path));
    list.slow_factor = json["slow_factor"].get<double>();
  }
  std::set<std::string> names;
  for (const nlohmann::json& one : json["cases"]) {
    auto entry = entry_of(one);
    if (!entry) return entry.status().in(fmt::format("--cases {}", path));
    if (!names.insert(entry->name).second)
      return invalid(fmt::format("--cases {}: two cases are called '{}'", path, entry->name));
    if (const Status status = add_case(*entry, repetitions, list); !status.ok())
      return status.in(fmt::format("--cases {}: case '{}'", path, entry->name));
  }
  if (list.cases.empty())
    return invalid(fmt::format("--cases {}: this build has none of the methods ({}: {})", path,
                               list.unavailable.empty() ? "none is named" : list.unavailable[0].method,
                               list.unavailable.empty() ? "--methods" : list.unavailable[0].reason));
  return list;
}

}  // namespace penstock::bench
