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
  bool listed = false;                   // LIST is that of the file as it is now
  std::string plan;
  std::string warnings;
};
