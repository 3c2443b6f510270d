// Definitions: what ranks say about datasets and attributes, made into one truth for all of them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/decomposition.hpp>

#include "core/model/catalogue.hpp"

namespace penstock {

// How the elements of a dataset are dealt to ranks; the same on all of them.
enum class Sharing : uint8_t { partitioned, ragged, replicated, per_rank };
Sharing sharing_of(const Decomposition& part);

struct Definition {
  ElementType type;
  Sharing sharing = Sharing::partitioned;
  Dims shape;  // of the dataset; of one row for ragged and per_rank
  bool unlimited = false;
  int rank = 0;       // the lowest that said so
  std::string meant;  // what the program's elements are: "bool" stored as i8; "" where they are of TYPE
};

struct Definitions {
  std::map<std::string, Definition> datasets;
  std::map<std::string, std::map<std::string, Attribute>> attributes;  // as in a catalogue
  std::set<std::string> unlimited;  // datasets whose first extent may grow, put by this rank or not
  std::set<std::string> named;      // datasets whose dimensions were named, which must fit
  std::set<std::string> groups;     // made on purpose
  std::set<std::string> removed;    // datasets and groups of the published file that go, with all that is in them
};

// Whether OBJECT is one of NAMES, or in a group that is.
bool is_among(std::string_view object, const std::set<std::string>& names);
// OLD, but for what is among REMOVED.
Catalogue without(Catalogue old, const std::set<std::string>& removed);

// "f64 (10, 20)", "ragged f32 rows of (3)", ...
std::string describe(const Definition& definition);
// Adds the DEFINITION of NAME to ALL, where it may be already; defined differently it is Code::mismatch. The first extent
// of an unlimited dataset is not compared: the larger one stays.
Status add(Definitions& all, const std::string& name, const Definition& definition);

// Collective. The union of all ranks' definitions; the same name defined differently is Code::mismatch, absence is not.
// One reduction where they are alike; else sorted lists are merged up a binomial tree.
// MINE may be this rank's failure; then all ranks fail with it, or with that of a lower rank.
Result<Definitions> agree_definitions(const Communicator& comm, Result<Definitions> mine);

}  // namespace penstock
