// Plan: the complete method by which a file is written or read, as one printable value.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/model/descriptor.hpp"
#include "core/model/settings.hpp"
#include "core/plan/hints.hpp"

namespace penstock {

// The available choices. The session fills it from the rooms' tables, so that plan contains no concrete strategy.
struct Vocabulary {
  std::vector<const Descriptor*> formats, placements, transports, engines;
  const Descriptor* common = nullptr;         // parameters of every FORMAT/TRANSPORT: placement, durability, block, ...
  const Descriptor* engine_common = nullptr;  // of every engine: durability
};

struct Plan {
  std::string engine;  // "" with format, placement and transport; these are "" with an engine
  std::string format;
  std::string placement;  // "single", "per_rank"
  std::string transport;
  bool open_transport = false;  // the text named no transport, and no parameter of one
  Settings settings;            // all their parameters and the common ones, with values
  Hints hints;                  // "hint.NAME=VALUE": for MPI_Info, if the method uses MPI-IO
  Hints environment;            // "env.NAME=VALUE": required in the environment before launch

  // "hdf5/two_phase:io=direct,writers=2": parameters that differ from their default, by name.
  std::string text(const Vocabulary& vocabulary) const;
  // {"format": ..., "placement": ..., "transport": ..., every parameter}; parse_plan reads it too.
  std::string json() const;
};

// "FORMAT/TRANSPORT[:name=value,...]", an alias ("raw/per_process", "raw/gather"), a transport alone ("two_phase"; the
// format is then FALLBACK_FORMAT), the default with other parameters (":durability=none", "auto:durability=none"),
// "learn" for "auto:learn=20",
// "ENGINE[:name=value,...]", or a plan's JSON. Errors for unknown words list the known ones.
Result<Plan> parse_plan(std::string_view text, std::string_view fallback_format, const Vocabulary& vocabulary);

inline constexpr std::string_view default_transport = "two_phase";

// PLAN with another transport and its parameters, TEXT: "independent:io=direct". Everything else stays, but that TEXT
// may also name a stripe_count for a plan that has none.
Result<Plan> with_transport(const Plan& plan, std::string_view text, const Vocabulary& vocabulary);

struct Alias {
  std::string_view name, transport, parameters, help;
};
std::span<const Alias> aliases();

}  // namespace penstock
