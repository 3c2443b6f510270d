// Provenance: information from rank 0's process, system and libraries.
#include <penstock/provenance.hpp>

#include <penstock/config.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/comm/library.hpp"
#include "core/hdf5/library.hpp"

namespace penstock {
namespace {

constexpr size_t max_attribute_bytes = 16 << 10;

std::string user_name() {
  std::vector<char> room(16 << 10);
  struct passwd entry{};
  struct passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, room.data(), room.size(), &found) == 0 && found != nullptr)
    return found->pw_name;
  return std::to_string(::geteuid());
}

// Arguments separated by spaces; those that a shell would split or change are quoted.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  std::string out;
  std::istringstream words(all.str());
  for (std::string word; std::getline(words, word, '\0');) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$`*?[](){}<>|&;#~!") == std::string::npos;
    if (!out.empty()) out += ' ';
    if (plain) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

std::string job() {
  for (const auto& [variable, system] :
       {std::pair{"SLURM_JOB_ID", "slurm"}, {"PBS_JOBID", "pbs"}, {"LSB_JOBID", "lsf"}, {"FLUX_JOB_ID", "flux"}})
    if (const char* id = std::getenv(variable); id != nullptr && *id != '\0') return fmt::format("{} {}", system, id);
  return "";
}

std::string directory() {
  char path[PATH_MAX];
  return ::getcwd(path, sizeof path) == nullptr ? "" : path;
}

}  // namespace

Status set_provenance(File& file, std::string_view key, std::string_view text) {
  Status status;
  if (key.empty() || key.find('/') != std::string_view::npos)
    status = {Code::invalid, fmt::format("provenance '{}': a key is a name without '/'", key)};
  if (text.find('\0') != std::string_view::npos)
    status = {Code::invalid, fmt::format("provenance '{}': a text has no NUL bytes", key)};
  if (!status.ok()) {
    file.remember_failure(status);
    return status;
  }
  if (file.communicator()->rank() != 0) return {};
  PENSTOCK_TRY(file.make_group("provenance"));
  if (text.size() <= max_attribute_bytes)
    return file.set_attribute("provenance", text_attribute(std::string(key), text));
  const auto size = static_cast<int64_t>(text.size());
  PENSTOCK_ASSIGN(const auto whole, Decomposition::block({size}, {0}, {size}));
  return file.put(fmt::format("provenance/{}", key), {Kind::u8}, whole, text.data());
}

Status collect_provenance(File& file) {
  if (file.communicator()->rank() != 0) return {};
  struct utsname system{};
  const bool known = ::uname(&system) == 0;
  const std::time_t time = std::time(nullptr);
  const std::pair<const char*, std::string> all[] = {
      {"user", user_name()},
      {"host", known ? system.nodename : ""},
      {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time))},
      {"machine", known ? fmt::format("{} {} {}", system.sysname, system.release, system.machine) : ""},
      {"directory", directory()},
      {"command_line", command_line()},
      {"job", job()},
      {"penstock", PENSTOCK_VERSION},
      {"hdf5", hdf5::library_version()},
      {"mpi", message_library()},
  };
  for (const auto& [key, text] : all)
    if (!text.empty()) PENSTOCK_TRY(set_provenance(file, key, text));
  return {};
}

}  // namespace penstock
