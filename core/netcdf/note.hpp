// Note: properties that netCDF cannot express, as JSON in attribute "_penstock" of the file or of a variable.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/attribute.hpp>

namespace penstock::netcdf {

// How to read an attribute that netCDF stores as a list of numbers or one text. Several texts are concatenated, padded
// or, if JOINED, separated by newlines.
struct AttributeNote {
  ElementType type;
  Dims shape;
  bool joined = false;
};

struct Note {
  bool conventions = false;         // of the file: "Conventions" is from penstock, not from the user
  bool named = false;               // of a variable: the user's attribute "dimensions" names its dimensions
  std::optional<ElementType> type;  // of a variable with real and imaginary parts
  std::optional<Dims> shape;        // of a variable without elements
  std::optional<bool> unlimited;    // if it differs from being a record variable
  std::map<std::string, AttributeNote> attributes;  // by netCDF name
  std::vector<std::string> groups;                  // of the file: empty groups

  bool empty() const {
    return !conventions && !named && !type && !shape && !unlimited && attributes.empty() && groups.empty();
  }
};

std::string print_note(const Note& note);
// The understandable part of TEXT. Readers use it only if it fits its object.
Note parse_note(std::string_view text);

// A penstock attribute in netCDF form (a list of non-complex numbers, or one text), with a note if it would not read
// back unchanged.
Attribute to_plain(const Attribute& attribute, std::string name, Note& note);
// The inverse. Ignores a note that does not fit, for example after another tool changed the attribute.
Attribute from_plain(const Attribute& plain, std::string name, const Note& note);

}  // namespace penstock::netcdf
