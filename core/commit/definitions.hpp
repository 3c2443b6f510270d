// Definitions: merges the ranks' definitions of datasets and attributes into one that all share.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/decomposition.hpp>

#include "core/model/catalogue.hpp"
#include "core/model/subset.hpp"

namespace penstock {

// How the elements of a dataset are distributed over ranks; the same on all ranks.
enum class Sharing : uint8_t { partitioned, ragged, replicated, per_rank };
Sharing sharing_of(const Decomposition& part);

// MEANT of a definition by a rank that has no elements, and whose TYPE may be any: that of the other ranks counts.
inline constexpr std::string_view untyped = "an empty list";

struct Definition {
  ElementType type;
  Sharing sharing = Sharing::partitioned;
  Dims shape;  // of the dataset; of one row for ragged and per_rank
  bool unlimited = false;
  int rank = 0;                // the lowest rank with this definition
  std::string meant;           // what the program's elements are: "bool" stored as i8; "" if they are of TYPE
  std::string precision = {};  // of what they were stored so: "f64 kept to 12 bits of the mantissa"; "" if as given
  std::optional<Subset> subset = {};  // of what was put that is stored
};

struct Definitions {
  std::map<std::string, Definition> datasets;
  std::map<std::string, std::map<std::string, Attribute>> attributes;  // as in a catalogue
  std::map<std::string, std::string> options;                          // of datasets, as text: docs/use.md
  std::set<std::string> unlimited;  // datasets whose first extent may grow, whether or not this rank puts them
  std::set<std::string> named;      // datasets with named dimensions, which must fit
  std::set<std::string> groups;     // created explicitly
  std::set<std::string> removed;    // datasets and groups of the published file to remove with all their contents
  std::set<std::string> left_out;   // datasets that were put, but which the output profile does not write
};

// Whether OBJECT is one of NAMES, or in a group of NAMES.
bool is_among(std::string_view object, const std::set<std::string>& names);
// OLD without the objects in REMOVED.
Catalogue without(Catalogue old, const std::set<std::string>& removed);

// "f64 (10, 20)", "ragged f32 rows of (3)", ...
std::string describe(const Definition& definition);
// Adds the DEFINITION of NAME to ALL. Code::mismatch if ALL has a different one. The first extent of an unlimited
// dataset is not compared: the larger one counts.
Status add(Definitions& all, const std::string& name, const Definition& definition);

// Local. What tells whether MINE, definitions or this rank's failure, are the same on all ranks: by its maxima over all
// ranks, which may be found together with others.
using DefinitionBounds = std::array<int64_t, 3>;
DefinitionBounds bounds_of(const Result<Definitions>& mine);

// Collective. The union of all ranks' definitions. Different definitions of one name are Code::mismatch; absence is
// allowed. Nothing is sent if all are equal, by the MAXIMA of bounds_of; else sorted lists are merged up a binomial
// tree. MINE may be this rank's failure; then all ranks fail with it, or with the failure of a lower rank.
Result<Definitions> agree_definitions(const Communicator& comm, Result<Definitions> mine,
                                      const DefinitionBounds& maxima);

}  // namespace penstock
