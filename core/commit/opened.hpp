// Opened: a file as its commits and reads see it: where it is, what it contains, and how its data moves.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <penstock/report.hpp>

#include "core/base/hints.hpp"
#include "core/integrity/published.hpp"
#include "core/methods/output_profile.hpp"
#include "core/plan/plan.hpp"

namespace penstock {

class Method;

struct Opened {
  Target target;
  std::optional<Published> file;              // the file that is read; the next commit keeps its contents
  std::optional<CopySource> source;           // of a copy in progress
  std::map<std::string, Dims> copied_chunks;  // chunk extents of its datasets, which encoding keeps
  Plan plan;
  std::unique_ptr<const Method> method;  // of PLAN
  Hints hints;                           // for MPI-IO
  Report report;                         // of the commit or read in progress, or the last one
  std::optional<OutputProfile> profile;  // of a new file, if it has rules for it
  int64_t series_step = -1;              // -1 outside of a series

  bool leaves_out(const std::string& dataset) const { return profile && profile->leaves_out(dataset, series_step); }

  const Published* published() const { return file ? &*file : nullptr; }
};

}  // namespace penstock
