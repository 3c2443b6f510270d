// Conventions: parses their names.
#include "core/conventions/conventions.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace penstock {

Result<Convention> parse_convention(std::string_view text) {
  std::string word(text);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word.empty() || word == "none") return Convention::none;
  if (word == "cf" || word == "cf-1.11") return Convention::cf;
  if (word == "openpmd" || word == "openpmd-1.1.0") return Convention::openpmd;
  return Status(Code::invalid,
                fmt::format("'{}' is no convention: CF (CF-1.11), openPMD (openPMD-1.1.0) or none", text));
}

}  // namespace penstock
