// Preset: the cases and methods that the requested ratios need.
#include "bench/preset/preset.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>

namespace penstock::bench {

namespace {

const std::vector<Preset>& table() {
  static const std::vector<Preset> presets = {ratios_preset()};
  return presets;
}

template <typename List, typename Name>
std::string listed(const List& list, Name name) {
  std::string text;
  for (const auto& one : list) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(one));
  return text;
}

Result<std::vector<RatioRow>> choose_ratios(const Preset& preset, const PresetRequest& request) {
  std::vector<RatioRow> chosen;
  for (const std::string& word : request.only)
    if (std::none_of(preset.ratios.begin(), preset.ratios.end(),
                     [&](const RatioRow& row) { return asks_for(word, row.id); }))
      return Status(Code::invalid, fmt::format("--only: no ratio '{}'; there are {}", word,
                                               listed(preset.ratios, [](const RatioRow& row) { return row.id; })));
  for (const RatioRow& row : preset.ratios) {
    const bool wanted = request.only.empty() || std::any_of(request.only.begin(), request.only.end(),
                                                            [&](const auto& w) { return asks_for(w, row.id); });
    if (!wanted) continue;
    chosen.push_back(row);
    if (row.romio && request.mpi_io != "ROMIO")
      chosen.back().skipped =
          fmt::format("this run's MPI-IO library is {}, not ROMIO", request.mpi_io.empty() ? "none" : request.mpi_io);
  }
  return chosen;
}

// Adds the methods of SIDE for MADE's case.
void add_methods(const Side& side, const std::string& rivals, Case& made, std::vector<Unavailable>& unavailable) {
  if (side.case_name != made.name) return;
  for (const std::string& label : side.methods) {
    const auto same = [&](const Method& method) { return method.label == label; };
    const auto known = [&](const Unavailable& u) { return u.case_name == made.name && u.method == label; };
    const auto found = std::find_if(made.methods.begin(), made.methods.end(), same);
    if (found != made.methods.end()) {
      if (found->rivals.empty()) found->rivals = rivals;
      continue;
    }
    if (std::any_of(unavailable.begin(), unavailable.end(), known)) continue;
    auto method = make_method(label, made.regime);
    if (!method) {
      unavailable.push_back({made.name, label, method.status().message()});
      continue;
    }
    method->rivals = rivals;
    made.methods.push_back(*std::move(method));
  }
}

void add_side(const RatioRow& row, const Side& side, Case& made, std::vector<Unavailable>& unavailable) {
  const bool several = side.methods.size() > 1 && &side == &row.other && side.measure != Measure::copy;
  add_methods(side, several ? row.id : "", made, unavailable);
}

// Why PRESET_CASE cannot be measured at all; "" if it can.
std::string refusal(const PresetCase& preset_case, const CaseWords& words) {
  if (preset_case.workload == "map" && words.map.empty()) return "needs an E3SM map: --map FILE";
  return {};
}

}  // namespace

const Preset* find_preset(std::string_view name) {
  for (const Preset& preset : table())
    if (preset.name == name) return &preset;
  return nullptr;
}

bool asks_for(std::string_view word, std::string_view id) {
  if (word == id) return true;
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return !word.empty() && std::all_of(word.begin(), word.end(), digit) && id.starts_with(word) &&
         !digit(id[word.size()]);
}

Result<ChosenPreset> choose_preset(std::string_view name, const PresetRequest& request) {
  ChosenPreset chosen;
  chosen.preset = find_preset(name);
  if (chosen.preset == nullptr)
    return Status(Code::invalid, fmt::format("no preset '{}'; there is {}", name,
                                             listed(table(), [](const Preset& preset) { return preset.name; })));
  PENSTOCK_ASSIGN(chosen.ratios, choose_ratios(*chosen.preset, request));
  for (const PresetCase& preset_case : chosen.preset->cases) {
    CaseWords words = request.words;
    words.workload = preset_case.workload;
    preset_case.set(words);
    PENSTOCK_ASSIGN(Case made, make_case_without_methods(words));
    made.name = preset_case.name;
    made.group = preset_case.group;
    const auto before = chosen.unavailable.size();
    for (const RatioRow& row : chosen.ratios)
      if (row.skipped.empty())
        for (const Side* side : {&row.ours, &row.other}) add_side(row, *side, made, chosen.unavailable);
    if (made.methods.empty()) continue;
    if (const std::string reason = refusal(preset_case, words); !reason.empty()) {
      chosen.unavailable.resize(before);
      for (const Method& method : made.methods) chosen.unavailable.push_back({made.name, method.label, reason});
      continue;
    }
    if (words.control) add_control(made);
    chosen.cases.push_back(std::move(made));
  }
  return chosen;
}

}  // namespace penstock::bench
