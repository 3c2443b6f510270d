// OutputProfile: which part of what a program puts is written, and how, as a user says it when the program runs.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/decomposition.hpp>

#include "core/methods/dataset_options.hpp"
#include "core/model/subset.hpp"

namespace penstock {

// A [[dataset]] of a profile.
struct OutputRule {
  int line = 0;                    // of its header
  std::string name;                // a shell pattern
  std::vector<std::string> files;  // shell patterns; none: all files of the profile
  bool write = true;
  std::vector<int64_t> every, mean;  // one number: for all dimensions; none: not said
  std::optional<Box> box;
  int64_t steps = 1;    // one of so many steps of a series has the dataset
  std::string options;  // of the dataset: "type=f32,keep_bits=12"

  bool thins() const { return !every.empty() || !mean.empty() || box.has_value(); }
};

struct OutputProfile {
  std::string file;  // as the user named it
  std::string text;
  std::vector<std::string> files;
  std::vector<OutputRule> rules;

  // The first rule for dataset NAME.
  const OutputRule* rule_for(const std::string& name) const;
  // Whether dataset NAME is not written in step STEP of a series; STEP is -1 for other files.
  bool leaves_out(const std::string& name, int64_t step) const;
  // Warnings of rules that match none of DATASETS, which are most likely misspelt.
  std::vector<std::string> without_use(const std::set<std::string>& datasets) const;
  // "production.toml:7"
  std::string place_of(const OutputRule& rule) const;
  // For the attribute of a file: "production.toml, crc64 0123456789abcdef".
  std::string signature() const;
};

// The text of the profile that PENSTOCK_PROFILE in ENVIRONMENT names, without rules; nothing if it names none.
Result<std::optional<OutputProfile>> read_output_profile(const char* const* environment);
// Reads the rules in PROFILE's text. Errors name file and line.
Status parse_output_profile(OutputProfile& profile);
// Leaves the rules for the file at PATH. Its PLAN must be able to store what they ask for.
Status choose_rules(OutputProfile& profile, const std::string& path, const Plan& plan);

// What RULE leaves of a dataset of SHAPE, with elements of TYPE; nothing if that is all of it. With ROWS the first
// dimension is that of ragged rows.
Result<std::optional<Subset>> subset_of(const OutputRule& rule, const ElementType& type, const Dims& shape, bool rows);
// The options of a dataset with elements of TYPE for which the program said PROGRAM: those of RULE count, with what
// belongs to them. Less precision is for floating-point numbers; others stay as the program says.
Result<DatasetOptions> options_of(const OutputRule& rule, const ElementType& type, std::string_view program,
                                  const Plan& plan);

}  // namespace penstock
