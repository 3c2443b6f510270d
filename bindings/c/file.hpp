// File: the definition of penstock_file, for sources that create one.
#pragma once

#include <penstock.h>

#include <set>
#include <string>
#include <vector>

#include <penstock/file.hpp>

struct penstock_file {
  penstock::File file;
  std::set<std::string> names;           // returned by penstock_name
  std::vector<const std::string*> list;  // of the datasets, each in NAMES
  int64_t listed = -1;                   // the publications() count at which LIST was made
  std::string plan;
  std::string warnings;
};
