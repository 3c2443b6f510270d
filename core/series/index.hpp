// Index: which steps a series has: read from its file, mended from the steps themselves, written anew after each step.
#pragma once

#include <cstddef>
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

// docs/formats/series.md is its specification.
inline constexpr std::string_view series_schema = "penstock.series/1";

struct Step {
  int64_t iteration = 0;
  double time = 0;
  // Where an iteration is written again, a new branch begins at FIRST: steps of lower branches from there on count no
  // more.
  int64_t branch = 0, first = 0;
  int64_t number = 0;                 // counted over all steps that ever were, removed ones too
  std::string name;                   // of the file, without folder
  int64_t bytes = 0, changed_at = 0;  // of the file: where they are others, the index is older

  friend bool operator==(const Step&, const Step&) = default;
};

// What is there, ascending in iterations; and files of branches that were replaced, to be removed.
struct Steps {
  std::vector<Step> list;
  std::vector<std::string> replaced;
  std::vector<std::string> warnings;
};

// Takes from STEPS.list what a later branch replaced.
void drop_replaced(Steps& steps);

// The attributes of a step's file, and back; nothing where the file was not written as a step.
std::vector<Attribute> attributes_of(const Step& step);
std::optional<Step> step_of(const Catalogue& catalogue);

std::string encode_index(const Pattern& pattern, std::span<const Step> steps);
// What TEXT says, which may be hostile. Nothing where it is damaged: it is made again from the steps. Code::exists
// where it is of another series, Code::damaged where it is whole and yet names what is no step of PATTERN.
Result<std::optional<std::vector<Step>>> decode_index(std::string_view text, const Pattern& pattern);

// Local. The index, and what the folder says otherwise.
Result<Steps> find_steps(Storage& storage, const Pattern& pattern);

}  // namespace penstock
