// Options: the words of penstock-diff.
#pragma once

#include <set>
#include <string>

#include "programs/diff/compare.hpp"

namespace penstock::program {

struct Options {
  std::string a, b;
  Tolerance tolerance;
  std::set<std::string> only;
  bool attributes = true;
};

}  // namespace penstock::program
