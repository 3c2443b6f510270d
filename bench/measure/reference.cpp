// Reference: the system calls between two clock readings.
#include "bench/measure/reference.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <vector>

#include "bench/shared_status.hpp"
#include "bench/streams.hpp"
#include "core/base/words.hpp"

namespace penstock::bench {

namespace {

constexpr std::string_view prefix = "reference/", device = "reference/device:streams=", plain = "reference/pwrite";
constexpr int max_streams = 64;

Status write_whole(const std::string& path, const std::vector<std::byte>& data) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return Status::from_errno(errno, fmt::format("creating {}", path));
  Status status;
  for (size_t at = 0; at < data.size() && status.ok();) {
    const ssize_t put = ::pwrite(fd, data.data() + at, data.size() - at, static_cast<off_t>(at));
    if (put <= 0) status = Status::from_errno(put < 0 ? errno : EIO, fmt::format("writing {}", path));
    at += static_cast<size_t>(std::max<ssize_t>(put, 0));
  }
  if (status.ok() && ::fsync(fd) != 0) status = Status::from_errno(errno, fmt::format("syncing {}", path));
  if (::close(fd) != 0 && status.ok()) status = Status::from_errno(errno, fmt::format("closing {}", path));
  return status;
}

Status check_whole(const std::string& path, std::vector<std::byte> data) {
  const std::vector<std::byte> written = data;
  std::fill(data.begin(), data.end(), std::byte{0});
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Status::from_errno(errno, fmt::format("opening {}", path));
  ssize_t got = 1;
  for (size_t at = 0; at < data.size() && got > 0; at += static_cast<size_t>(std::max<ssize_t>(got, 0)))
    got = ::pread(fd, data.data() + at, data.size() - at, static_cast<off_t>(at));
  ::close(fd);
  return data == written ? Status() : Status(Code::damaged, "what was read back is not what was written");
}

// All fields, one after another.
std::vector<std::byte> contents(const Truth& truth) {
  std::vector<std::byte> data(static_cast<size_t>(total_bytes(*truth.workload)));
  std::span<std::byte> rest = data;
  for (int i = 0; i < static_cast<int>(truth.workload->fields().size()); ++i) {
    const auto length = static_cast<size_t>(truth.field(i).elements * bytes(truth.field(i).type));
    expect(truth, i, 0, rest.first(length));
    rest = rest.subspan(length);
  }
  return data;
}

Status run_pwrite(const std::string& path, const Truth& truth, Timing& timing) {
  const std::vector<std::byte> data = contents(truth);
  const double start = now();
  PENSTOCK_TRY(write_whole(path, data));
  timing.seconds = now() - start;
  timing.report.bytes = timing.report.file_bytes = static_cast<int64_t>(data.size());
  return check_whole(path, data);
}

Status run_streams(int count, const std::string& folder, int64_t size, Timing& timing) {
  StreamSet set(folder, size, count, true);
  timing.seconds = run_all(set, write_stream);
  timing.report.bytes = timing.report.file_bytes = set.bytes;
  return set.error() == 0 ? Status() : Status::from_errno(set.error(), fmt::format("{} streams in {}", count, folder));
}

}  // namespace

bool is_reference(std::string_view label) { return label.starts_with(prefix); }

Result<Reference> parse_reference(std::string_view label) {
  if (label == plain) return Reference{};
  if (label.starts_with(device)) {
    const auto streams = parse_number<int>(label.substr(device.size()));
    if (streams && *streams >= 1 && *streams <= max_streams) return Reference{*streams};
  }
  return Status(Code::invalid, fmt::format("no reference '{}'; there are {} and {}N, N from 1 to {}", label, plain,
                                           device, max_streams));
}

Result<Timing> timed_reference(const Communicator& comm, const Reference& reference, const std::string& path,
                               const Truth& truth) {
  Timing timing;
  Status status;
  PENSTOCK_TRY(while_others_sleep(comm, [&] {
    const int64_t size = total_bytes(*truth.workload);
    status = reference.streams > 0 ? run_streams(reference.streams, path.substr(0, path.rfind('/')), size, timing)
                                   : run_pwrite(path, truth, timing);
  }));
  PENSTOCK_TRY(from_root(comm, status));
  return timing;
}

}  // namespace penstock::bench
