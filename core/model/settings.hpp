// Settings: the parameters of a plan, checked against a descriptor's table, each with a default.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <penstock/status.hpp>

#include "core/model/descriptor.hpp"

namespace penstock {

class Settings {
 public:
  // Sets NAME after checking VALUE against PARAMETER.
  Status set(const Parameter& parameter, std::string_view value);
  // All parameters of the chosen format, placement and transport, or engine, are set; others read as 0, false and "".
  int64_t integer(std::string_view name) const;
  bool boolean(std::string_view name) const;
  double real(std::string_view name) const;  // of a text
  const std::string& word(std::string_view name) const;
  const std::map<std::string, std::string, std::less<>>& all() const { return values_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;  // byte counts are stored as plain numbers
};

// "name=value,name=value". A name that is set twice is an error.
Result<std::map<std::string, std::string>> split_parameters(std::string_view text);
// Every parameter of DESCRIPTOR, from TEXT or its default. Errors for unknown names list the known ones.
Result<Settings> parse_settings(std::string_view text, const Descriptor& descriptor);

}  // namespace penstock
