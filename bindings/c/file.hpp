// File: what a penstock_file is, for the sources that make them.
#pragma once

#include <penstock.h>

#include <set>
#include <string>
#include <vector>

#include <penstock/file.hpp>

struct penstock_file {
  penstock::File file;
  std::set<std::string> names;           // handed out by penstock_name
  std::vector<const std::string*> list;  // of the datasets, each in NAMES
  int64_t listed = -1;                   // the number of publications that LIST is of
  std::string plan;
  std::string warnings;
};
