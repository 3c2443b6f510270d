// Provenance: data from the kernel, the libraries and the build.
#include "bench/provenance.hpp"

#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <chrono>
#include <fstream>
#include <map>

#include <penstock/config.h>

#include "bench/measure/scratch.hpp"
#include "bench/verify/library.hpp"

#ifndef PENSTOCK_COMMIT
#define PENSTOCK_COMMIT "unknown"
#endif

namespace penstock::bench {

namespace {

// The value of the first line "KEY ... : VALUE" of a file under /proc.
std::string proc_value(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "unknown";
}

std::string file_system(const std::string& folder) {
  struct statfs about{};
  if (::statfs(folder.c_str(), &about) != 0) return "unknown";
  switch (static_cast<unsigned long>(about.f_type)) {
    case 0xef53: return "ext4";  // also ext2 and ext3, which share the number
    case 0x58465342: return "xfs";
    case 0x9123683e: return "btrfs";
    case 0x01021994: return "tmpfs";
    case 0x6969: return "nfs";
    case 0x0bd00bd0: return "lustre";
    case 0x47504653: return "gpfs";
    case 0x19830326: return "beegfs";
    case 0x794c7630: return "overlayfs";
    case 0x2fc12fc1: return "zfs";
    case 0x00c36400: return "ceph";
    default: return fmt::format("{:#x}", static_cast<unsigned long>(about.f_type));
  }
}

// {"node": number of its ranks}
Result<nlohmann::json> nodes(const Communicator& comm) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const std::string_view text(host);
  PENSTOCK_ASSIGN(const auto names, comm->gather(std::as_bytes(std::span(text)), 0));
  std::map<std::string, int> count;
  for (const auto& name : names) ++count[std::string(reinterpret_cast<const char*>(name.data()), name.size())];
  return nlohmann::json(count);
}

}  // namespace

int64_t available_memory() {
  const std::string text = proc_value("/proc/meminfo", "MemAvailable");
  return text == "unknown" ? 0 : std::strtoll(text.c_str(), nullptr, 10) * 1024;
}

Result<nlohmann::json> provenance(const Communicator& comm, const Options& options, const std::string& mpi_library) {
  PENSTOCK_ASSIGN(nlohmann::json node_map, nodes(comm));
  if (comm->rank() != 0) return nlohmann::json();
  struct utsname system{};
  ::uname(&system);
  const auto free = free_bytes(options.directory);
  const auto time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return nlohmann::json{
      {"hostname", system.nodename},
      {"kernel", fmt::format("{} {}", system.sysname, system.release)},
      {"cpu", proc_value("/proc/cpuinfo", "model name")},
      {"cores", ::sysconf(_SC_NPROCESSORS_ONLN)},
      {"memory_available_bytes", available_memory()},
      {"nodes", node_map},
      {"directory", options.directory},
      {"file_system", file_system(options.directory)},
      {"free_bytes", free ? *free : 0},
      {"mpi", mpi_library},
      {"hdf5", hdf5_version()},
      {"penstock", PENSTOCK_VERSION},
      {"commit", PENSTOCK_COMMIT},
      {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time))},
      {"arguments", options.arguments},
  };
}

}  // namespace penstock::bench
