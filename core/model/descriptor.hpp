// Descriptor: the name and parameters of a format, placement or transport; one table for parser, help and docs.
#pragma once

#include <string_view>
#include <vector>

namespace penstock {

struct Parameter {
  enum class Type { integer, bytes, choice, boolean, text };
  std::string_view name;
  Type type;
  std::string_view allowed;  // choices as "a|b|c"; the least number for integers and bytes; of a text what it is
  std::string_view fallback;
  std::string_view help;
  bool combines = false;  // changes what the others that combine mean: tests try all of their combinations
};

struct Descriptor {
  std::string_view name;
  std::string_view summary;  // one line on when it is good
  std::vector<Parameter> parameters;
  std::string_view missing;  // "" where it is built, else "needs PnetCDF"
  bool hints = false;        // takes "hint.NAME" for MPI_Info, since it uses MPI-IO
};

}  // namespace penstock
