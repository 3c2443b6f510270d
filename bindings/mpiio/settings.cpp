// Settings: the environment, read.
#include "bindings/mpiio/settings.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/methods/methods.hpp"

namespace penstock::mpiio {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

RunSettings read() {
  RunSettings settings;
  std::string_view plans = variable("PENSTOCK_RUN_PLAN");
  while (!plans.empty()) {
    const size_t end = std::min(plans.find(';'), plans.size());
    const std::string_view rule = plans.substr(0, end);
    plans.remove_prefix(std::min(end + 1, plans.size()));
    // A plan may have "=" in its parameters, after a colon; so may not a pattern.
    const size_t equals = rule.find('='), colon = rule.find(':');
    const bool has_pattern = equals != std::string_view::npos && (colon == std::string_view::npos || equals < colon);
    RunSettings::Rule made{has_pattern ? std::string(rule.substr(0, equals)) : "*",
                           std::string(has_pattern ? rule.substr(equals + 1) : rule)};
    if (made.plan.empty()) continue;
    if (made.plan != "auto" && made.plan != "none") {
      const auto parsed = parse_plan(made.plan, "raw", vocabulary());
      std::string why = parsed.status().message();
      if (parsed.ok() && parsed->transport == "servers") {
        const std::string given = made.plan.substr(std::min(made.plan.size(), std::string("servers").size()));
        if (!given.empty() && (!given.starts_with(":buffer_bytes=") || given.find(',') != std::string::npos))
          why = "its one parameter for unchanged programs is buffer_bytes";
      } else if (parsed.ok() && parsed->transport != "two_phase" && parsed->transport != "independent") {
        why = "name two_phase, independent or servers, with parameters, or none for MPI's own way, or auto";
      }
      if (!why.empty()) {
        settings.warnings.push_back(fmt::format("PENSTOCK_RUN_PLAN: '{}' is not used: {}", made.plan, why));
        continue;
      }
    }
    settings.rules.push_back(std::move(made));
  }
  const std::string_view defer = variable("PENSTOCK_RUN_DEFER");
  settings.keep_back = defer != "none" && defer != "0";
  if (settings.keep_back && !defer.empty() && defer != "collective")
    settings.warnings.push_back(fmt::format("PENSTOCK_RUN_DEFER={}: it is collective or none", defer));
  if (const std::string_view memory = variable("PENSTOCK_RUN_MEMORY"); !memory.empty()) {
    const auto bytes = parse_bytes(memory);
    if (bytes && *bytes >= 0)
      settings.memory = *bytes;
    else
      settings.warnings.push_back(fmt::format("PENSTOCK_RUN_MEMORY={}: write it as 64MiB", memory));
  }
  settings.waits = variable("PENSTOCK_TIMEOUT").empty();
  settings.report = variable("PENSTOCK_RUN_REPORT");
  return settings;
}

}  // namespace

const std::string& RunSettings::plan_for(const std::string& path) const {
  static const std::string automatic = "auto";
  for (const Rule& rule : rules)  // of the whole path, or of its end
    if (fnmatch(rule.pattern.c_str(), path.c_str(), 0) == 0 ||
        fnmatch(("*/" + rule.pattern).c_str(), path.c_str(), 0) == 0)
      return rule.plan;
  return automatic;
}

bool RunSettings::has_servers() const {
  return std::ranges::any_of(rules, [](const Rule& rule) { return background_bytes(rule.plan) > 0; });
}

int64_t background_bytes(const std::string& plan) {
  if (!plan.starts_with("servers")) return 0;
  const auto parsed = parse_plan(plan, "raw", vocabulary());
  return parsed.ok() && parsed->transport == "servers" ? parsed->settings.integer("buffer_bytes") : 0;
}

std::string RunSettings::plan_text() const {
  std::string text;
  for (const Rule& rule : rules)
    text += fmt::format("{}{}{}", text.empty() ? "" : ";", rule.pattern == "*" ? "" : rule.pattern + "=", rule.plan);
  return text.empty() ? "auto" : text;
}

const RunSettings& run_settings() {
  static const RunSettings& settings = *new RunSettings(read());
  return settings;
}

}  // namespace penstock::mpiio
