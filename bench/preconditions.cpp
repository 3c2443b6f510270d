// Preconditions: folder, disk and memory, checked by rank 0.
#include "bench/preconditions.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "bench/ceiling.hpp"
#include "bench/measure/scratch.hpp"
#include "bench/provenance.hpp"
#include "bench/shared_status.hpp"
#include "bench/workload/piece.hpp"
#include "core/base/units.hpp"

namespace penstock::bench {

namespace {

constexpr int64_t slack_bytes = 64 << 20;  // metadata, indexes, rounding to blocks

Status check_directory(const std::string& directory) {
  struct stat about{};
  if (::stat(directory.c_str(), &about) != 0) return Status::from_errno(errno, fmt::format("--dir {}", directory));
  if (!S_ISDIR(about.st_mode)) return Status(Code::invalid, fmt::format("--dir {} is not a folder", directory));
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    return Status::from_errno(errno, fmt::format("--dir {}", directory));
  return {};
}

// An override would be measured under the name of every method.
Status check_environment() {
  for (const char* name : {"PENSTOCK_PLAN", "PENSTOCK_PLANS"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      return {Code::invalid, fmt::format("{}={} replaces every method: unset it to measure", name, value)};
  return {};
}

Status check_json(const std::string& path) {
  if (path.empty()) return {};
  struct stat about{};
  if (::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode))  // a rename would replace a device
    return Status(Code::invalid, fmt::format("--json {} is no regular file", path));
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? Status()
                                                    : Status::from_errno(errno, fmt::format("--json {}", path));
}

// A commit that replaces nothing needs one copy; plus a tenth for alignment and checksums.
int64_t disk_bytes(const Options& options, int64_t bytes) {
  const int64_t files =
      options.keep && !options.cases.empty() ? static_cast<int64_t>(options.cases[0].methods.size()) : 1;
  return std::max(files * (bytes + bytes / 10) + slack_bytes, ceiling_bytes(bytes));
}

Status check_disk(const Options& options, int64_t need) {
  PENSTOCK_ASSIGN(const int64_t free, free_bytes(options.directory));
  if (free >= need) return {};
  return Status(Code::no_space, fmt::format("{} has {} free, this needs {}", options.directory, format_bytes(free),
                                            format_bytes(need)));
}

// Of all ranks, including ghost cells, once.
int64_t memory_bytes(const Case& one, int ranks) {
  int64_t sum = 0;
  const std::vector<Field>& fields = one.workload->fields();
  for (size_t field = 0; field < fields.size(); ++field)
    for (int rank = 0; rank < ranks && one.ghosts > 0; ++rank)
      if (const auto part = one.workload->part(static_cast<int>(field), rank, ranks))
        sum += memory_elements(*part, one.ghosts) * bytes(fields[field].type);
  return std::max(one.total_bytes(), sum);
}

Status check_memory(const Communicator& comm, int64_t need) {
  const int64_t available = available_memory();
  if (available == 0 || comm->node_size() < comm->size()) return {};  // several nodes: each has only its own part
  if (available >= need) return {};
  return Status(Code::memory,
                fmt::format("{} of memory are available, this needs {}", format_bytes(available), format_bytes(need)));
}

}  // namespace

Needs needs_of(const Options& options, int ranks) {
  int64_t size = 0, memory = 0;
  for (const Case& one : options.cases) {
    size = std::max(size, one.total_bytes());
    memory = std::max(memory, memory_bytes(one, ranks));
  }
  return {disk_bytes(options, size), memory + slack_bytes};  // data is read back into the memory it was written from
}

Status check_preconditions(const Communicator& comm, const Options& options) {
  Status status;
  if (comm->rank() == 0) {
    const Needs needs = needs_of(options, comm->size());
    status = check_environment();
    if (status.ok()) status = check_directory(options.directory);
    if (status.ok()) status = check_json(options.json);
    if (status.ok() && !options.cases.empty()) status = check_disk(options, needs.disk);
    if (status.ok()) status = check_memory(comm, needs.memory);
  }
  return from_root(comm, status);
}

}  // namespace penstock::bench
