// Wisdom: which plans were fastest for which problems, as measured or simulated before and kept in files (the word is
// FFTW's).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/model/problem.hpp"
#include "core/plan/machine.hpp"

namespace penstock {

// One result of measurement, or of a simulation.
struct Wise {
  Problem problem;
  std::string plan;                 // a transport and its parameters: "independent:io=direct"
  double ratio = 1;                 // its time, over that of the default plan in the same repetitions
  std::optional<double> low, high;  // 95 % interval
  std::string measured;             // "2026-11-27"; if simulated, the day of that
  std::string expires;              // not used after this day; "" for never
  double seconds = 0;               // its time; 0 if it was not kept
  std::string simulated;            // on the machine of this name; "" if it was measured
};

// What is known, best first: entries of earlier files come before those of later ones.
struct Wisdom {
  std::vector<Wise> entries;
  std::vector<Machine> machines;

  bool empty() const { return entries.empty() && machines.empty(); }
  // The entry whose problem is nearest to PROBLEM; null if none is near enough to apply. One that was measured comes
  // before those that were simulated, however near they are.
  const Wise* find(const Problem& problem) const;
  // The machine for PROBLEM, probed with the nearest number of ranks; null if there is none.
  const Machine* machine(const Problem& problem) const;
};

// The files of wisdom in an environment: PENSTOCK_WISDOM, several separated by colons, "none" for none; without it the
// user's ($XDG_CONFIG_HOME/penstock/wisdom.json, else ~/.config/...) and the site's (/etc/penstock/wisdom.json).
std::vector<std::string> wisdom_files(const char* const* environment);

// The text of a file of wisdom, docs/wisdom.md. Entries that have expired on the day TODAY ("2026-11-27") are left out.
Result<Wisdom> parse_wisdom(std::string_view text, std::string_view today);
std::string text_of(const Wisdom& wisdom);
// {"operation": "write", "format": "hdf5", ...}
std::string text_of(const Problem& problem);
Result<Problem> parse_problem(std::string_view text);

// Reads FILES, of which each may be absent. A file that cannot be read or understood is left out with a warning.
struct ReadWisdom {
  Wisdom wisdom;
  std::vector<std::string> warnings;
};
ReadWisdom read_wisdom(const std::vector<std::string>& files, std::string_view today);

}  // namespace penstock
