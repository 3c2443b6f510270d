// Index: the steps of a series: read from its file, completed from the steps themselves, rewritten after each step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/model/catalogue.hpp"
#include "core/series/pattern.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// docs/formats/series.md specifies it.
inline constexpr std::string_view series_schema = "penstock.series/1";

struct Step {
  int64_t iteration = 0;
  double time = 0;
  // Writing an existing iteration again starts a new branch at FIRST; steps of lower branches from there on are
  // obsolete.
  int64_t branch = 0, first = 0;
  int64_t number = 0;                 // counted over all steps ever written, including removed ones
  std::string name;                   // of the file, without folder
  int64_t bytes = 0, changed_at = 0;  // of the file: if they differ, the index is older

  friend bool operator==(const Step&, const Step&) = default;
};

// The existing steps in ascending order of iterations; and files of replaced branches, to be removed.
struct Steps {
  std::vector<Step> list;
  std::vector<std::string> replaced;
  std::vector<std::string> warnings;
};

// Removes from STEPS.list the steps that a later branch replaced.
void drop_replaced(Steps& steps);

// The attributes of a step's file, and the reverse; nothing if the file was not written as a step.
std::vector<Attribute> attributes_of(const Step& step);
std::optional<Step> step_of(const Catalogue& catalogue);

std::string encode_index(const Pattern& pattern, std::span<const Step> steps);
// Decodes TEXT, which may be hostile. Nothing if it is damaged: it is rebuilt from the steps. Code::exists if it
// belongs to another series; Code::damaged if it is intact but names files that are not steps of PATTERN.
Result<std::optional<std::vector<Step>>> decode_index(std::string_view text, const Pattern& pattern);

// Local. The index, corrected by the contents of the folder.
Result<Steps> find_steps(Storage& storage, const Pattern& pattern);

}  // namespace penstock
