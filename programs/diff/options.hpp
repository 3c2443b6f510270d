// Options: the words of penstock-diff.
#pragma once

#include <set>
#include <string>

#include "programs/diff/compare.hpp"
#include "programs/diff/errors.hpp"

namespace penstock::program {

struct Options {
  std::string a, b;
  Tolerance tolerance;
  std::set<std::string> only;
  bool attributes = true;
  bool errors = false;  // print by how much A differs from the reference B instead
  Limits limits;
};

}  // namespace penstock::program
