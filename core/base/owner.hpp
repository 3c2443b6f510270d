// Owner: identifies in a temporary file's name the process that created it, to tell leftovers of dead processes from
// files of live ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock {

// Identifies a process to others. tools/penstock/operate/leftovers/names.py reads and makes the same names.
struct Owner {
  // Twelve hexadecimal digits for the boot and the namespaces in which pid and start are valid; twelve "0" if the
  // system does not report them. Pid and start are comparable only if these digits are equal.
  std::string machine;
  int64_t pid = 0;
  int64_t start = 0;  // in clock ticks since boot; identifies a process together with its pid; 0: unknown
  std::string job;    // "slurm-4711-cluster", "pbs-17_server", ..; "none"
  std::string host;   // without its domain
};
enum class Life : uint8_t { alive, dead, unknown };

// Local. The calling process.
Owner this_process();
// Local. unknown if the process belongs to another machine or the system does not tell.
Life life_of(const Owner& owner);
// "MACHINE-PID-START.JOB.HOST", the form used in names.
std::string text(const Owner& owner);

// ".BASE.TOKEN.OWNER.partial" with TOKEN as sixteen hexadecimal digits. A long BASE is cut and ends in "~" and its
// checksum, so that the name has at most max_partial_name bytes.
inline constexpr size_t max_partial_name = 255 - 24;  // libraries add to the name for their own files
std::string partial_name(std::string_view base, uint64_t token, std::string_view owner);
// The parts of such a name; nothing for other names.
struct PartialName {
  std::string base;  // as in the name, possibly cut
  Owner owner;
  bool is_of(std::string_view target) const;  // whether it is a partial file of a target with this name
  size_t max_base = 0;
};
std::optional<PartialName> parse_partial(std::string_view name);

}  // namespace penstock
