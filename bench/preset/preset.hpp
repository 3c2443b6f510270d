// Preset: a list of cases measured in one interleaved run, and the ratios computed from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/case.hpp"

namespace penstock::bench {

// The compared quantity: seconds of writes or reads or, with a compute phase, seconds of copying the data once.
enum class Measure : uint8_t { write, read, copy };

// One side of a ratio. Of several methods the one with the lowest median counts; the ratio names it.
struct Side {
  std::string case_name;
  std::vector<std::string> methods;
  Measure measure = Measure::write;
};

// For a ratio that is counted instead of timed: the growth of each rank's traffic with the number of ranks.
struct CountedSide {
  std::string workload;
  bool plan_bytes = false;  // bytes of plans instead of messages
  bool weak = false;        // 8 MiB per rank instead of 512 MiB in total
};

// Seconds of OURS over those of OTHER in the same repetitions; or a COUNTED growth, without either.
struct RatioRow {
  std::string id, name;
  Side ours, other;
  std::optional<double> target = {};      // on 16 ranks or more; nothing if the ratio is for information
  std::optional<double> few_target = {};  // on fewer ranks, if different
  bool romio = false;                     // only if ROMIO is this run's MPI-IO library
  std::optional<CountedSide> counted = {};
  std::string skipped = {};  // why it cannot be measured here in any run

  std::optional<double> target_on(int ranks) const { return ranks < 16 && few_target ? few_target : target; }
};

struct PresetCase {
  std::string_view name, group, workload;
  void (*set)(CaseWords& words);  // overrides the user's options for all cases
};

struct Preset {
  std::string_view name;
  std::vector<PresetCase> cases;
  std::vector<RatioRow> ratios;
  double slow_factor = 10;  // methods this much slower than ours in the warm-up are dropped or measured less often
};

// Null if there is none.
const Preset* find_preset(std::string_view name);
std::vector<std::string_view> preset_names();
// ratios.cpp: the ratios that measure the library's quality.
Preset ratios_preset();

struct PresetRequest {
  CaseWords words;                // the user's options for all cases: total, type, order, map
  std::vector<std::string> only;  // ids or numbers of ratios; empty: all
  std::string mpi_io;             // "OMPIO", "ROMIO", "" without MPI-IO
};

struct ChosenPreset {
  const Preset* preset = nullptr;
  std::vector<RatioRow> ratios;
  std::vector<Case> cases;  // those that some ratio needs, each with the methods needed
  std::vector<Unavailable> unavailable;
};
// Local.
Result<ChosenPreset> choose_preset(std::string_view name, const PresetRequest& request);
// Whether WORD, "4a" or "4", selects the ratio ID.
bool asks_for(std::string_view word, std::string_view id);

}  // namespace penstock::bench
