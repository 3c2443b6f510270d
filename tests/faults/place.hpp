// Place: what the command line of torture says, and the folders in which its cases lie.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/status.hpp>

#include "tests/harness/world.hpp"

namespace penstock::test {

class Options {
 public:
  Options(int argc, char** argv) {
    for (int i = 2; i + 1 < argc; i += 2) values_[argv[i]] = argv[i + 1];
  }
  std::string text(const std::string& name, const std::string& fallback = "") const {
    const auto at = values_.find("--" + name);
    return at == values_.end() ? fallback : at->second;
  }
  int64_t number(const std::string& name, int64_t fallback) const {
    const std::string value = text(name);
    return value.empty() ? fallback : std::atoll(value.c_str());
  }

 private:
  std::map<std::string, std::string> values_;
};

// Of what no case means anything without.
[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "torture: this failed: %s\n", why.c_str());
  std::_Exit(2);
}

inline void run_or_exit(const std::string& command) {
  if (std::system(command.c_str()) != 0) give_up(command);
}

// Where the checkpoint of each case lies: a copy of one that was written without faults.
class Place {
 public:
  explicit Place(const Options& options)
      : work_(options.text("work")), name_("state" + options.text("extension")), settle_(options.text("settle")) {}

  std::string base() const { return work_ + "/base"; }
  std::string folder(int64_t number) const { return fmt::format("{}/{}", work_, number); }
  std::string path_in(const std::string& folder) const { return folder + "/" + name_; }
  void fresh_base() const {
    std::filesystem::remove_all(work_);
    std::filesystem::create_directories(base());
  }
  // On the disk, where that may lose its power.
  void fresh(int64_t number) const {
    std::filesystem::copy(base(), folder(number), std::filesystem::copy_options::recursive);
    if (!settle_.empty()) run_or_exit("sync --file-system '" + work_ + "'");
  }
  void remove(int64_t number) const { std::filesystem::remove_all(folder(number)); }
  // What makes the disk fit to be looked at again, where the command line says so.
  void settle() const {
    if (!settle_.empty()) run_or_exit(settle_);
  }

 private:
  std::string work_, name_, settle_;
};

inline int refuse(const std::string& why) {
  fmt::print("refused\t{}\n", why);
  return 0;
}

// Collective. Writes version 2 on all ranks; on rank 0 the statuses of all.
std::vector<Status> write_there(const World& world, const std::string& path, const Options& options);

// torture space: tests/faults/space.cpp.
int space(int argc, char** argv, const Options& options);

}  // namespace penstock::test
