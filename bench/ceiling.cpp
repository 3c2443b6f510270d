// Ceiling: streams of aligned transfers by threads of rank 0.
#include "bench/ceiling.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <penstock/phase.hpp>

#include "bench/streams.hpp"
#include "core/base/file_descriptor.hpp"

namespace penstock::bench {

namespace {

constexpr int tries = 3;

void settle(const std::string& folder) {
  const FileDescriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() >= 0) ::syncfs(file.get());
}

// One try of one row: write, drop, read, remove.
void run_row(const std::string& folder, int64_t bytes, CeilingRow& row) {
  StreamSet set(folder, bytes, row.streams, row.io == "direct");
  const double mebibytes = static_cast<double>(set.bytes) / (1 << 20);
  settle(folder);
  const double writing = run_all(set, write_stream);
  for (const Stream& s : set.streams) drop(s);
  if (set.error() == 0) {
    row.write_rates.push_back(mebibytes / writing);
    const double reading = run_all(set, read_stream);
    if (set.error() == 0) row.read_rates.push_back(mebibytes / reading);
  }
  if (set.error() != 0) row.error = std::strerror(set.error());
  for (const Stream& s : set.streams) ::unlink(s.path.c_str());
}

Ceiling measure(const CeilingRequest& request, int ranks) {
  Ceiling ceiling;
  ceiling.bytes = ceiling_bytes(request.total_bytes);
  ceiling.transfer_bytes = transfer_bytes;
  std::vector<int> counts = {1, 2};
  // Ranks that write concurrently may get more out of a device than two streams.
  const int many = std::min<int>(ranks, static_cast<int>(ceiling.bytes / transfer_bytes / 2));
  if (many > 2) counts.push_back(std::min(many, 16));
  for (const int streams : counts)
    for (const char* io : {"direct", "buffered"}) ceiling.rows.push_back({io, streams, {}, {}, {}});
  const double start = now();
  for (int attempt = 0; attempt < tries; ++attempt)
    for (CeilingRow& row : ceiling.rows) {
      if (!row.error.empty() || (attempt > 0 && now() - start > request.seconds)) continue;
      run_row(request.folder, ceiling.bytes, row);
    }
  for (const CeilingRow& row : ceiling.rows) {
    for (double rate : row.write_rates) ceiling.best_write = std::max(ceiling.best_write, rate);
    for (double rate : row.read_rates) ceiling.best_read = std::max(ceiling.best_read, rate);
  }
  return ceiling;
}

}  // namespace

int64_t ceiling_bytes(int64_t total_bytes) {
  return std::clamp<int64_t>(total_bytes, 32 << 20, 512 << 20) / transfer_bytes * transfer_bytes;
}

Result<Ceiling> measure_ceiling(const Communicator& comm, const CeilingRequest& request) {
  Ceiling ceiling;
  PENSTOCK_TRY(while_others_sleep(comm, [&] { ceiling = measure(request, comm->size()); }));
  return ceiling;
}

}  // namespace penstock::bench
