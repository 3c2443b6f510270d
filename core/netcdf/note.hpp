// Note: what netCDF cannot say, as JSON in the attribute "_penstock" of the file or of a variable.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/attribute.hpp>

namespace penstock::netcdf {

// How an attribute is to be read that netCDF keeps as a list of numbers or one text. Of several texts the bytes are one
// after another, padded, or where JOINED separated by newlines.
struct AttributeNote {
  ElementType type;
  Dims shape;
  bool joined = false;
};

struct Note {
  bool conventions = false;         // of the file: "Conventions" is penstock's, not the user's
  bool named = false;               // of a variable: its dimensions' names are the user's attribute "dimensions"
  std::optional<ElementType> type;  // of a variable with real and imaginary parts
  std::optional<Dims> shape;        // of a variable without elements
  std::optional<bool> unlimited;    // where that is not what being a record variable says
  std::map<std::string, AttributeNote> attributes;  // by netCDF name
  std::vector<std::string> groups;                  // of the file: those with nothing in them

  bool empty() const {
    return !conventions && !named && !type && !shape && !unlimited && attributes.empty() && groups.empty();
  }
};

std::string print_note(const Note& note);
// What TEXT says as far as it can be understood: it is only believed where it fits what it speaks of.
Note parse_note(std::string_view text);

// An attribute of penstock as netCDF has them (a list of numbers that is no complex, or one text), with a note where it
// would not read back.
Attribute to_plain(const Attribute& attribute, std::string name, Note& note);
// The other way round; a note that does not fit (some tool changed the attribute) is not believed.
Attribute from_plain(const Attribute& plain, std::string name, const Note& note);

}  // namespace penstock::netcdf
