// Hints: parsing, and precedence of sources.
#include "core/plan/hints.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

namespace penstock {
namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view hint_prefix = "hint.", environment_prefix = "env.";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(separators), text.size());
    pieces.emplace_back(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

std::vector<std::string> pieces_of(std::string_view text) {
  if (text.find_first_of(";\n") != std::string_view::npos) return split(text, ";\n");
  std::vector<std::string> pieces;
  for (std::string& piece : split(text, ",")) {
    if (!pieces.empty() && piece.find('=') == std::string::npos)
      pieces.back() += "," + piece;
    else
      pieces.push_back(std::move(piece));
  }
  return pieces;
}

Status add(Hints& hints, std::string_view piece, std::string_view separators) {
  const size_t at = piece.find_first_of(separators);
  const std::string_view name = trimmed(piece.substr(0, at));
  if (at == std::string_view::npos || name.empty())
    return {Code::invalid, fmt::format("'{}' is no hint: name=value is needed", piece)};
  hints[std::string(name)] = trimmed(piece.substr(at + 1));
  return {};
}

Result<Hints> read_hints(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status(Code::not_found, fmt::format("the file of hints '{}' cannot be read", path));
  Hints hints;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (text.empty()) continue;
    const bool assigned = text.find('=') != std::string_view::npos;
    PENSTOCK_TRY(add(hints, text, assigned ? "=" : blanks).in(fmt::format("{}:{}", path, number)));
  }
  return hints;
}

Hints hints_of_ior(const char* const* environment) {
  Hints hints;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    std::string_view entry = *environment;
    for (const std::string_view prefix : {"IOR_HINT__MPI__", "IOR_HINT__GPFS__"}) {
      const size_t equals = entry.find('=');
      if (!entry.starts_with(prefix) || equals == std::string_view::npos || equals == prefix.size()) continue;
      hints.emplace(entry.substr(prefix.size(), equals - prefix.size()), entry.substr(equals + 1));
    }
  }
  return hints;
}

}  // namespace

std::optional<std::string_view> find_setting(const char* const* environment, std::string_view name) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

Result<Hints> parse_hints(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('@')) return read_hints(std::string(text.substr(1)));
  Hints hints;
  for (const std::string& piece : pieces_of(text))
    if (!piece.empty()) PENSTOCK_TRY(add(hints, piece, "="));
  return hints;
}

Result<Hints> hints_of_environment(const char* const* environment) {
  Hints hints;
  if (const auto text = find_setting(environment, "PENSTOCK_HINTS")) {
    auto parsed = parse_hints(*text);
    if (!parsed.ok()) return parsed.status().in("PENSTOCK_HINTS");
    hints = *std::move(parsed);
  }
  hints.merge(hints_of_ior(environment));
  return hints;
}

Result<KnobParameters> take_knobs(std::map<std::string, std::string>& parameters) {
  KnobParameters knobs;
  for (auto at = parameters.begin(); at != parameters.end();) {
    const bool hint = at->first.starts_with(hint_prefix);
    if (!hint && !at->first.starts_with(environment_prefix)) {
      ++at;
      continue;
    }
    const std::string name = at->first.substr((hint ? hint_prefix : environment_prefix).size());
    if (name.empty()) return Status(Code::invalid, fmt::format("'{}' in a plan names nothing", at->first));
    (hint ? knobs.hints : knobs.environment)[name] = at->second;
    at = parameters.erase(at);
  }
  return knobs;
}

std::map<std::string, std::string> knob_parameters(const Hints& hints, const Hints& environment) {
  std::map<std::string, std::string> parameters;
  for (const auto& [name, value] : hints) parameters[std::string(hint_prefix) + name] = value;
  for (const auto& [name, value] : environment) parameters[std::string(environment_prefix) + name] = value;
  return parameters;
}

std::vector<std::string> environment_warnings(const Hints& wanted, const char* const* environment) {
  std::vector<std::string> warnings;
  for (const auto& [name, value] : wanted) {
    const auto now = find_setting(environment, name);
    if (now == value) continue;
    const std::string is = now ? fmt::format("is '{}'", *now) : "is not set";
    warnings.push_back(
        fmt::format("the plan wants {}={}, but it {} in this process: set it before the launch", name, value, is));
  }
  return warnings;
}

const char* const* process_environment() { return environ; }

}  // namespace penstock
