// Preset: a list of cases that are measured in one interleaved run, and the ratios that are read from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/case.hpp"

namespace penstock::bench {

// What of a method is compared: seconds of its writes or reads, or, behind a compute phase, seconds of copying the data
// once.
enum class Measure : uint8_t { write, read, copy };

// One side of a ratio. Of several methods the one with the lowest median counts, which the ratio names.
struct Side {
  std::string case_name;
  std::vector<std::string> methods;
  Measure measure = Measure::write;
};

// Of a ratio that is counted instead of timed: what each rank sends as their number grows.
struct CountedSide {
  std::string workload;
  bool plan_bytes = false;  // bytes of plans, else messages
  bool weak = false;        // 8 MiB on each rank; else 512 MiB on all
};

// Seconds of OURS over those of OTHER in the same repetitions; or a growth that is COUNTED, without either.
struct RatioRow {
  std::string id, name;
  Side ours, other;
  std::optional<double> target = {};      // on 16 ranks or more; nothing where the ratio is only to be known
  std::optional<double> few_target = {};  // on fewer, where it is another
  bool romio = false;                     // only where ROMIO is this run's MPI-IO library
  std::optional<CountedSide> counted = {};
  std::string skipped = {};  // why it cannot be measured here, whatever the run

  std::optional<double> target_on(int ranks) const { return ranks < 16 && few_target ? few_target : target; }
};

struct PresetCase {
  std::string_view name, group, workload;
  void (*set)(CaseWords& words);  // over what the user gave for all cases
};

struct Preset {
  std::string_view name;
  std::vector<PresetCase> cases;
  std::vector<RatioRow> ratios;
  double slow_factor = 10;  // what takes so many times our time in the warm-up is dropped, or measured less often
};

// Null where there is none.
const Preset* find_preset(std::string_view name);
std::vector<std::string_view> preset_names();
// ratios.cpp: the ratios by which the library is judged.
Preset ratios_preset();

struct PresetRequest {
  CaseWords words;                // what the user gave for all cases: total, type, order, map
  std::vector<std::string> only;  // ids of ratios, or their numbers; empty: all
  std::string mpi_io;             // "OMPIO", "ROMIO", "" where there is no MPI-IO
};

struct ChosenPreset {
  const Preset* preset = nullptr;
  std::vector<RatioRow> ratios;
  std::vector<Case> cases;  // those that some of the ratios need, each with the methods that they need
  std::vector<Unavailable> unavailable;
};
// Local.
Result<ChosenPreset> choose_preset(std::string_view name, const PresetRequest& request);
// Whether WORD, "4a" or "4", asks for the ratio ID.
bool asks_for(std::string_view word, std::string_view id);

}  // namespace penstock::bench
