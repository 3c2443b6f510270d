// Wisdom: reads and writes files of wisdom, and finds the nearest entry.
#include "core/plan/wisdom.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/plan/hints.hpp"

namespace penstock {
namespace {

using Json = nlohmann::json;

constexpr std::string_view schema = "penstock.wisdom/1", schemas = "penstock.wisdom/";
constexpr std::string_view site_file = "/etc/penstock/wisdom.json";
constexpr double max_distance = 3;      // more than a factor of 8, in all sizes together, is another problem
constexpr int64_t max_bytes = 1 << 20;  // of a file
constexpr int64_t max_ranks = 1 << 30, max_total = int64_t{1} << 60;

Json json_of(const Problem& p) {
  return {{"operation", p.write ? "write" : "read"},
          {"format", p.format},
          {"placement", p.placement},
          {"durable", p.durable},
          {"in_memory", p.in_memory},
          {"ranks", p.ranks},
          {"ranks_per_node", p.ranks_per_node},
          {"bytes_per_rank", p.bytes},
          {"blocks_per_rank", p.blocks},
          {"run_bytes", p.run_bytes},
          {"filesystem", p.filesystem},
          {"mpi", p.mpi}};
}

int64_t count_in(const Json& json, const char* name) {
  const Json& count = json.at(name);
  if (!count.is_number_integer() || count.get<int64_t>() < 0)
    throw std::invalid_argument(fmt::format("{} is no count", name));
  return count;
}

Problem problem_of(const Json& json) {
  const std::string operation = json.at("operation");
  if (operation != "write" && operation != "read") throw std::invalid_argument("operation is neither write nor read");
  Problem p;
  p.write = operation == "write";
  p.format = json.at("format");
  p.placement = json.at("placement");
  p.durable = json.at("durable");
  p.in_memory = json.at("in_memory");
  p.ranks = count_in(json, "ranks");
  p.ranks_per_node = count_in(json, "ranks_per_node");
  p.bytes = count_in(json, "bytes_per_rank");
  p.blocks = count_in(json, "blocks_per_rank");
  p.run_bytes = count_in(json, "run_bytes");
  if (p.ranks < 1 || p.ranks_per_node < 1 || p.ranks > max_ranks || p.bytes > max_total / p.ranks)
    throw std::invalid_argument("its ranks, or their bytes, are out of range");
  p.filesystem = json.at("filesystem");
  p.mpi = json.at("mpi");
  return p;
}

std::optional<double> number_in(const Json& json, const char* name) {
  const auto at = json.find(name);
  if (at == json.end() || at->is_null()) return {};
  return at->get<double>();
}

Wise wise_of(const Json& json) {
  Wise wise;
  wise.problem = problem_of(json.at("problem"));
  wise.plan = json.at("plan");
  wise.ratio = json.at("ratio");
  wise.low = number_in(json, "low");
  wise.high = number_in(json, "high");
  wise.measured = json.at("measured");
  if (json.contains("simulated") && !json.at("simulated").is_null()) wise.simulated = json.at("simulated");
  if (json.contains("expires") && !json.at("expires").is_null()) wise.expires = json.at("expires");
  wise.seconds = number_in(json, "seconds").value_or(0);
  return wise;
}

struct Rate {
  const char* name;
  double Machine::* value;
};
constexpr Rate rates[] = {
    {"copy", &Machine::copy},
    {"send", &Machine::send},
    {"write_cache_one", &Machine::write_cache_one},
    {"write_cache_all", &Machine::write_cache_all},
    {"write_direct_one", &Machine::write_direct_one},
    {"write_direct_all", &Machine::write_direct_all},
    {"write_synced_one", &Machine::write_synced_one},
    {"write_synced_all", &Machine::write_synced_all},
    {"read_cache_one", &Machine::read_cache_one},
    {"read_cache_all", &Machine::read_cache_all},
    {"read_direct_one", &Machine::read_direct_one},
    {"read_direct_all", &Machine::read_direct_all},
    {"read_device_one", &Machine::read_device_one},
    {"read_device_all", &Machine::read_device_all},
};
constexpr Rate times[] = {
    {"piece", &Machine::piece},           {"message", &Machine::message},     {"collective", &Machine::collective},
    {"write_call", &Machine::write_call}, {"read_call", &Machine::read_call}, {"publish", &Machine::publish},
};

void read_all(const Json& json, std::span<const Rate> table, Machine& machine) {
  for (const auto& [name, value] : table) {
    const double number = json.at(name);
    if (!(number > 0) || !std::isfinite(number)) throw std::invalid_argument(fmt::format("{} is not over 0", name));
    machine.*value = number;
  }
}

Json json_of(std::span<const Rate> table, const Machine& machine) {
  Json json = Json::object();
  for (const auto& [name, value] : table) json[name] = machine.*value;
  return json;
}

Machine machine_of(const Json& json) {
  Machine machine;
  machine.filesystem = json.at("filesystem");
  machine.mpi = json.at("mpi");
  machine.ranks = count_in(json, "ranks");
  read_all(json.at("bytes_per_second"), rates, machine);
  read_all(json.at("seconds"), times, machine);
  return machine;
}

Json json_of(const Machine& machine) {
  return {{"filesystem", machine.filesystem},
          {"mpi", machine.mpi},
          {"ranks", machine.ranks},
          {"bytes_per_second", json_of(rates, machine)},
          {"seconds", json_of(times, machine)}};
}

// Calls READ with each element of LIST.
template <typename Read>
void for_each_of(const Json& list, const char* one_of_them, const char* all, Read read) {
  int number = 0;
  try {
    if (!list.is_array()) throw std::invalid_argument("they are no list");
    for (const Json& element : list) {
      ++number;
      read(element);
    }
  } catch (const std::exception& wrong) {
    throw std::invalid_argument(number == 0 ? fmt::format("it has no {}: {}", all, wrong.what())
                                            : fmt::format("{} {} is wrong: {}", one_of_them, number, wrong.what()));
  }
}

Json json_of(const Wise& wise) {
  Json json{{"problem", json_of(wise.problem)},
            {"plan", wise.plan},
            {"ratio", wise.ratio},
            {"low", wise.low ? Json(*wise.low) : Json(nullptr)},
            {"high", wise.high ? Json(*wise.high) : Json(nullptr)},
            {"measured", wise.measured},
            {"simulated", wise.simulated.empty() ? Json(nullptr) : Json(wise.simulated)},
            {"expires", wise.expires.empty() ? Json(nullptr) : Json(wise.expires)},
            {"seconds", wise.seconds}};
  return json;
}

std::optional<std::string> text_in(const std::string& file) {
  std::error_code wrong;
  const auto size = std::filesystem::file_size(file, wrong);
  if (wrong || static_cast<int64_t>(size) > max_bytes) return {};
  std::ifstream in(file, std::ios::binary);
  std::string text(static_cast<size_t>(size), '\0');
  in.read(text.data(), static_cast<std::streamsize>(size));  // an error of the file system is a state of IN
  if (!in.is_open() || in.bad() || in.gcount() != static_cast<std::streamsize>(size)) return {};
  return text;
}

}  // namespace

const Wise* Wisdom::find(const Problem& problem) const {
  const Wise* best = nullptr;
  std::pair least(true, std::numeric_limits<double>::infinity());
  for (const Wise& wise : entries) {
    const std::pair found(!wise.simulated.empty(), distance(wise.problem, problem));
    if (found.second > max_distance || found >= least) continue;
    best = &wise;
    least = found;
  }
  return best;
}

const Machine* Wisdom::machine(const Problem& problem) const {
  const Machine* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Machine& one : machines) {
    const double d = std::abs(std::log2(static_cast<double>(std::max<int64_t>(1, one.ranks))) -
                              std::log2(static_cast<double>(problem.ranks)));
    if (one.filesystem == problem.filesystem && one.mpi == problem.mpi && d < least) {
      best = &one;
      least = d;
    }
  }
  return best;
}

std::vector<std::string> wisdom_files(const char* const* environment) {
  const auto setting = find_setting(environment, "PENSTOCK_WISDOM");
  std::vector<std::string> files;
  if (setting && !setting->empty()) {
    if (*setting == "none") return files;
    for (std::string_view rest = *setting; !rest.empty();) {
      const size_t colon = std::min(rest.find(':'), rest.size());
      if (colon > 0) files.emplace_back(rest.substr(0, colon));
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    return files;
  }
  const auto config = find_setting(environment, "XDG_CONFIG_HOME"), home = find_setting(environment, "HOME");
  if (config && config->starts_with('/'))
    files.push_back(fmt::format("{}/penstock/wisdom.json", *config));
  else if (home && home->starts_with('/'))
    files.push_back(fmt::format("{}/.config/penstock/wisdom.json", *home));
  files.emplace_back(site_file);
  return files;
}

Result<Wisdom> parse_wisdom(std::string_view text, std::string_view today) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("schema") || !json["schema"].is_string())
    return Status(Code::invalid, "it is no file of wisdom: a JSON object with a \"schema\"");
  const std::string is = json["schema"];
  if (is != schema)
    return Status(Code::unsupported, is.starts_with(schemas)
                                         ? fmt::format("its schema is '{}', and this version reads '{}'", is, schema)
                                         : fmt::format("its schema is '{}', not '{}'", is, schema));
  Wisdom wisdom;
  try {
    if (json.contains("machines"))
      for_each_of(json.at("machines"), "machine", "machines",
                  [&](const Json& one) { wisdom.machines.push_back(machine_of(one)); });
    const auto add = [&](const Json& one) {
      Wise wise = wise_of(one);
      if (wise.expires.empty() || wise.expires >= today) wisdom.entries.push_back(std::move(wise));
    };
    for_each_of(json.contains("entries") ? json.at("entries") : Json(), "entry", "entries", add);
  } catch (const std::exception& wrong) {
    return Status(Code::invalid, wrong.what());
  }
  return wisdom;
}

std::string text_of(const Wisdom& wisdom) {
  Json entries = Json::array();
  for (const Wise& wise : wisdom.entries) entries.push_back(json_of(wise));
  Json machines = Json::array();
  for (const Machine& machine : wisdom.machines) machines.push_back(json_of(machine));
  return Json{{"schema", schema}, {"entries", std::move(entries)}, {"machines", std::move(machines)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

std::string text_of(const Problem& problem) {
  return json_of(problem).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Problem> parse_problem(std::string_view text) {
  try {
    return problem_of(Json::parse(text));
  } catch (const std::exception& wrong) {
    return Status(Code::invalid, fmt::format("it is no problem as in docs/wisdom.md: {}", wrong.what()));
  }
}

ReadWisdom read_wisdom(const std::vector<std::string>& files, std::string_view today) {
  ReadWisdom all;
  for (const std::string& file : files) {
    std::error_code wrong;
    if (!std::filesystem::exists(file, wrong)) continue;
    const auto text = text_in(file);
    auto wisdom = text ? parse_wisdom(*text, today)
                       : Result<Wisdom>(Status(Code::io, "it cannot be read, or has more than 1 MiB"));
    if (!wisdom.ok()) {
      all.warnings.push_back(fmt::format("wisdom '{}' is not used: {}", file, wisdom.status().message()));
      continue;
    }
    std::ranges::move(wisdom->entries, std::back_inserter(all.wisdom.entries));
    std::ranges::move(wisdom->machines, std::back_inserter(all.wisdom.machines));
  }
  return all;
}

}  // namespace penstock
