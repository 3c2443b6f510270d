// Descriptor: the name and parameters of a format, placement or transport; one table for parser, help and docs.
#pragma once

#include <string_view>
#include <vector>

namespace penstock {

struct Parameter {
  enum class Type { integer, bytes, choice, boolean, text };
  std::string_view name;
  Type type;
  std::string_view allowed;  // choices as "a|b|c"; the minimum for integers and bytes; for a text its meaning
  std::string_view fallback;
  std::string_view help;
  bool combines = false;  // interacts with other such parameters: tests cover all combinations
};

struct Descriptor {
  std::string_view name;
  std::string_view summary;  // one line on when to use it
  std::vector<Parameter> parameters;
  std::string_view missing;  // "" if it is built, else "needs PnetCDF"
  bool hints = false;        // accepts "hint.NAME" for MPI_Info, since it uses MPI-IO
};

}  // namespace penstock
