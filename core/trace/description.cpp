// Description: data from /proc and the environment.
#include "core/trace/description.hpp"

#include <mntent.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include <penstock/config.h>
#include <nlohmann/json.hpp>

namespace penstock {
namespace {

constexpr size_t max_mounts = 64;
// Variables that identify the processes of one run.
constexpr std::array variables = {"SLURM_JOB_ID", "SLURM_STEP_ID", "PBS_JOBID", "LSB_JOBID",
                                  "FLUX_JOB_ID",  "JOB_ID",        "PALS_APID", "PMIX_NAMESPACE"};

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(file), {}};
  while (!words.empty() && words.back() == '\0') words.pop_back();
  for (char& c : words)
    if (c == '\0') c = ' ';
  return words;
}

nlohmann::json mounts() {
  static const std::set<std::string_view> none_of_ours = {
      "proc",        "sysfs",     "cgroup", "cgroup2",    "devpts",  "devtmpfs", "mqueue",
      "securityfs",  "debugfs",   "pstore", "bpf",        "tracefs", "configfs", "fusectl",
      "binfmt_misc", "hugetlbfs", "nsfs",   "rpc_pipefs", "autofs",  "efivarfs"};
  auto list = nlohmann::json::array();
  const std::unique_ptr<FILE, int (*)(FILE*)> table(::setmntent("/proc/self/mounts", "r"), ::endmntent);
  if (!table) return list;
  mntent entry{};
  std::array<char, 4096> memory{};
  while (list.size() < max_mounts && ::getmntent_r(table.get(), &entry, memory.data(), memory.size()) != nullptr)
    if (!none_of_ours.contains(entry.mnt_type)) list.push_back({entry.mnt_dir, entry.mnt_type});
  return list;
}

std::string text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

int64_t process_age() {
  std::ifstream file("/proc/self/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;  // proc(5): field 22 is the start time, in ticks since boot
  timespec now{};
  const int64_t ticks = std::strtoll(field.c_str(), nullptr, 10), ticks_a_second = ::sysconf(_SC_CLK_TCK);
  if (ticks <= 0 || ticks_a_second <= 0 || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  constexpr int64_t second = 1'000'000'000;
  return std::max<int64_t>(0, now.tv_sec * second + now.tv_nsec - ticks * (second / ticks_a_second));
}

std::string job_description(const TracedProcess& process) {
  std::array<char, 256> host{};
  (void)::gethostname(host.data(), host.size() - 1);
  auto environment = nlohmann::json::object();
  for (const char* name : variables)
    if (const char* value = std::getenv(name)) environment[name] = value;
  std::error_code unknown;
  return text({{"schema", "penstock.trace/1"},
               {"version", PENSTOCK_VERSION},
               {"program", command_line()},
               {"rank", process.rank},
               {"ranks", process.ranks},
               {"role", process.role},
               {"host", host.data()},
               {"folder", std::filesystem::current_path(unknown).string()},
               {"pid", process.process},
               {"uid", ::getuid()},
               {"start", process.begin},
               {"age", process.age},
               {"library", process.library},
               {"environment", environment},
               {"mounts", mounts()}});
}

std::string end_description(int64_t time, int64_t calls, int64_t calls_lost, int64_t recorder) {
  return text({{"time", time}, {"calls", calls}, {"calls_lost", calls_lost}, {"recorder", recorder}});
}

}  // namespace penstock
