// Settings: what `penstock run` says to the processes of a program, by their environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/plan/plan.hpp"

namespace penstock::mpiio {

struct RunSettings {
  struct Rule {
    std::string pattern;  // of paths, as a shell's; "*": all
    std::string plan;     // "auto", "none", "two_phase:writers=4"
  };
  std::vector<Rule> rules;    // PENSTOCK_RUN_PLAN; the first that matches counts
  bool keep_back = true;      // PENSTOCK_RUN_DEFER
  int64_t memory = 64 << 20;  // PENSTOCK_RUN_MEMORY: of each rank, for what is kept back
  bool waits = true;          // without PENSTOCK_TIMEOUT: for other ranks and for the file system, as long as MPI would
  std::string report;         // PENSTOCK_RUN_REPORT: a folder
  std::vector<std::string> warnings;

  const std::string& plan_for(const std::string& path) const;
  bool has_servers() const;  // of any file
  std::string plan_text() const;
};

// Of a plan "servers:buffer_bytes=...", by which a node writes in the background: this memory; 0 of other plans.
int64_t background_bytes(const std::string& plan);

// Of this process, read once.
const RunSettings& run_settings();

}  // namespace penstock::mpiio
