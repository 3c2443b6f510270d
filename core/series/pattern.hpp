// Pattern: the file names of a series: steps, index and accompanying files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/status.hpp>

namespace penstock {

// "run/out-*.h5": folder "run/", prefix "out-", suffix ".h5".
struct Pattern {
  std::string folder, prefix, suffix;

  std::string text() const { return prefix + "*" + suffix; }
  // The path of a step's file.
  std::string path_of(int64_t iteration) const;
  // The iteration of file NAME (without folder): a file of the format or the index of a set (NAME.json).
  std::optional<int64_t> iteration_of(std::string_view name) const;
  // "run/out" for "run/out-*.h5", "run/series" for "run/*.h5": the start of names beside the steps.
  std::string stem() const;
  std::string index_path() const { return stem() + ".series.json"; }
  std::string xdmf_path() const { return stem() + ".xmf"; }
};

Result<Pattern> parse_pattern(std::string_view text);

}  // namespace penstock
