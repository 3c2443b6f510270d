// Owner: converts data of /proc and the environment to names, and back.
#include "core/base/owner.hpp"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/base/words.hpp"

namespace penstock {
namespace {

constexpr size_t max_job = 40, max_host = 32, machine_digits = 12, token_digits = 16;
constexpr std::string_view end_of_name = ".partial";

// Of jobs: the environment variable, and the scheduler's name in file names.
constexpr std::array<std::pair<const char*, std::string_view>, 6> schedulers = {{{"SLURM_JOB_ID", "slurm"},
                                                                                 {"PBS_JOBID", "pbs"},
                                                                                 {"LSB_JOBID", "lsf"},
                                                                                 {"FLUX_JOB_ID", "flux"},
                                                                                 {"JOB_ID", "sge"},
                                                                                 {"PMIX_NAMESPACE", "pmix"}}};

// Fields must not contain the separators of names.
std::string plain(std::string_view text, size_t most) {
  std::string out(text.substr(0, most));
  for (char& c : out)
    if ((c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-') c = '_';
  return out;
}

std::string job_of_environment() {
  for (const auto& [variable, kind] : schedulers) {
    const char* id = std::getenv(variable);
    if (id == nullptr || *id == '\0') continue;
    std::string job = fmt::format("{}-{}", kind, id);
    // Another cluster on the same file system may use the same job numbers.
    if (const char* cluster = std::getenv("SLURM_CLUSTER_NAME"); kind == "slurm" && cluster != nullptr)
      job += fmt::format("-{}", cluster);
    return plain(job, max_job);
  }
  return "none";
}

std::string link_text(const char* path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(path, target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<size_t>(length)) : std::string();
}

std::string hexadecimal(std::string_view text, size_t digits) {
  return fmt::format("{:016x}", crc64(std::as_bytes(std::span(text)))).substr(0, digits);
}

std::string this_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  file >> boot;
  const std::string processes = link_text("/proc/self/ns/pid"), times = link_text("/proc/self/ns/time");
  // If /proc belongs to other processes, its entry for a number describes another process.
  if (boot.empty() || processes.empty() || link_text("/proc/self") != std::to_string(::getpid()))
    return std::string(machine_digits, '0');
  return hexadecimal(fmt::format("{} {} {}", boot, processes, times), machine_digits);
}

struct ProcessStat {
  bool ended = false;  // and not yet waited for
  int64_t start = 0;
};

std::optional<int64_t> number(std::string_view text) {
  const auto value = parse_number<int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

// From /proc/PID/stat: after the last ")" come state (field 3), .., threads (20), .., start (22).
std::optional<ProcessStat> process_stat(int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::ostringstream all;
  all << file.rdbuf();
  const std::string line = all.str();
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream words(line.substr(name_end + 1));
  std::vector<std::string> fields;
  for (std::string word; words >> word;) fields.push_back(word);
  if (fields.size() < 20) return std::nullopt;
  const auto threads = number(fields[17]), start = number(fields[19]);
  if (!threads || !start) return std::nullopt;
  return ProcessStat{(fields[0] == "Z" || fields[0] == "X") && *threads <= 1, *start};
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  const std::string_view whole(name.data());
  return plain(whole.substr(0, whole.find('.')), max_host);
}

// The first MOST bytes of BASE; if shortened, the checksum distinguishes it from other long names.
std::string cut(std::string_view base, size_t most) {
  if (base.size() <= most) return std::string(base);
  size_t kept = most - 1 - token_digits;
  while (kept > 0 && (static_cast<unsigned char>(base[kept]) & 0xC0U) == 0x80U) --kept;  // keep characters whole
  return fmt::format("{}~{}", base.substr(0, kept), hexadecimal(base, token_digits));
}

bool is_hexadecimal(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_plain(const std::string& text) { return !text.empty() && plain(text, text.size()) == text; }

// Removes from TEXT what follows the last SEPARATOR, and returns it.
std::string_view take_last(std::string_view& text, char separator) {
  const size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return {};
  const std::string_view last = text.substr(at + 1);
  text = text.substr(0, at);
  return last;
}

}  // namespace

Owner this_process() {
  static std::mutex mutex;
  static Owner known;  // without the job; of this process unless it has forked
  const std::lock_guard lock(mutex);
  if (const int64_t pid = ::getpid(); known.pid != pid) {
    known = Owner{this_machine(), pid, 0, {}, host_name()};
    if (const auto stat = process_stat(pid); stat && known.machine != std::string(machine_digits, '0'))
      known.start = stat->start;
  }
  Owner owner = known;
  owner.job = job_of_environment();
  return owner;
}

Life life_of(const Owner& owner) {
  const std::string machine = this_machine();
  if (owner.machine != machine || machine == std::string(machine_digits, '0')) return Life::unknown;
  if (owner.pid <= 0 || owner.pid > INT_MAX) return Life::unknown;
  if (::kill(static_cast<pid_t>(owner.pid), 0) != 0 && errno == ESRCH) return Life::dead;
  const auto stat = process_stat(owner.pid);  // some machines hide it from other users
  if (!stat || owner.start == 0) return Life::unknown;
  return stat->start == owner.start && !stat->ended ? Life::alive : Life::dead;
}

std::string text(const Owner& owner) {
  return fmt::format("{}-{}-{}.{}.{}", owner.machine, owner.pid, owner.start, owner.job, owner.host);
}

std::string partial_name(std::string_view base, uint64_t token, std::string_view owner) {
  const std::string rest = fmt::format(".{:016x}.{}{}", token, owner, end_of_name);
  return fmt::format(".{}{}", cut(base, max_partial_name - 1 - rest.size()), rest);
}

bool PartialName::is_of(std::string_view target) const { return cut(target, max_base) == base; }

std::optional<PartialName> parse_partial(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(end_of_name)) return std::nullopt;
  std::string_view rest = name.substr(1, name.size() - 1 - end_of_name.size());
  PartialName partial;
  partial.owner.host = take_last(rest, '.');
  partial.owner.job = take_last(rest, '.');
  std::string_view process = take_last(rest, '.');
  const std::string_view token = take_last(rest, '.');
  const auto start = number(take_last(process, '-')), pid = number(take_last(process, '-'));
  if (!start || !pid || !is_hexadecimal(process, machine_digits) || !is_hexadecimal(token, token_digits) ||
      rest.empty() || !is_plain(partial.owner.host) || !is_plain(partial.owner.job))
    return std::nullopt;
  partial.owner.machine = process;
  partial.owner.pid = *pid;
  partial.owner.start = *start;
  partial.base = rest;
  const size_t others = name.size() - rest.size();
  partial.max_base = max_partial_name > others ? max_partial_name - others : 0;
  return partial;
}

}  // namespace penstock
