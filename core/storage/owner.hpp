// Owner: who makes a partial file, as its name says, so that what a dead process left is told from what a live one makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/storage/storage.hpp"

namespace penstock {

// A process as others may look for it. tools/penstock/leftovers/names.py reads and makes the same names.
struct Owner {
  // Twelve hexadecimal digits of this start of the machine and the namespaces that a process's number and start are of; "0" times
  // twelve where the system does not say. Only where it is the same can pid and start be compared.
  std::string machine;
  int64_t pid = 0;
  int64_t start =
      0;  // in clock ticks since the machine's: tells a process from a later one with its number; 0: not known
  std::string job;   // "slurm-4711-cluster", "pbs-17_server", ..; "none"
  std::string host;  // without its domain
};
enum class Life : uint8_t { alive, dead, unknown };

// Local. Of the process that calls.
Owner this_process();
// Local. unknown of another machine, and where the system does not tell.
Life life_of(const Owner& owner);
// "MACHINE-PID-START.JOB.HOST", as it stands in names.
std::string text(const Owner& owner);

// ".BASE.TOKEN.OWNER.partial" with TOKEN as sixteen hexadecimal digits; a long BASE is cut and ends in "~" and its checksum, so
// that the name has at most partial_name_most bytes.
inline constexpr size_t partial_name_most = 255 - 24;  // libraries add to the name for files of their own
std::string partial_name(std::string_view base, uint64_t token, std::string_view owner);
// What stands in a name made so; nothing for others.
struct PartialName {
  std::string base;  // as it stands there, perhaps cut
  Owner owner;
  bool is_of(std::string_view target) const;  // whether it is a partial file of a target with this name
  size_t base_most = 0;
};
std::optional<PartialName> parse_partial(std::string_view name);

// STATUS, whose message says PATH where it said PARTIAL, which is nobody's name but ours.
Status by_its_name(const Status& status, const std::string& partial, const std::string& path);

// What lies beside a file that will be written.
struct Beside {
  std::string others;  // one line about partial files of it that others left, or are writing now; "" for none
  bool parts = false;  // of sets of this name
};
// Local, of use on rank 0. Looks at the first 1024 names of the folder of PATH only, so that a full one costs no more.
Beside look_beside(Storage& storage, const std::string& path);

// A small file, whole: by a partial file of this process's own. All or nothing, and durable.
Status write_file(Storage& storage, const std::string& path, std::string_view text);

}  // namespace penstock
