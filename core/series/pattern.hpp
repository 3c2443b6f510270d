// Pattern: the names of a series: its steps, its index, and the files beside it.
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
  // The file that a step is written to, with its folder.
  std::string path_of(int64_t iteration) const;
  // The iteration of the file NAME, without its folder: of the format's own name or of the index of a set (NAME.json).
  std::optional<int64_t> iteration_of(std::string_view name) const;
  // "run/out" of "run/out-*.h5", "run/series" of "run/*.h5": what lies beside the steps begins with it.
  std::string stem() const;
  std::string index_path() const { return stem() + ".series.json"; }
  std::string xdmf_path() const { return stem() + ".xmf"; }
};

Result<Pattern> parse_pattern(std::string_view text);

}  // namespace penstock
