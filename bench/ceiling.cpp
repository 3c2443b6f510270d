// Ceiling: streams of aligned transfers by threads of rank 0.
#include "bench/ceiling.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <penstock/phase.hpp>

#include "bench/workload/numbering.hpp"

namespace penstock::bench {

namespace {

constexpr int64_t transfer_bytes = 4 << 20;
constexpr int tries = 3;
constexpr int awake_tag = 1000;

// Page-aligned memory full of bytes that no device can compress.
class Transfer {
 public:
  Transfer() : memory_(::mmap(nullptr, transfer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ != MAP_FAILED) Numbering(Kind::f64, 0, 0).fill(0, {static_cast<std::byte*>(memory_), transfer_bytes});
  }
  ~Transfer() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, transfer_bytes);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  void* get() const { return memory_ == MAP_FAILED ? nullptr : memory_; }

 private:
  void* memory_;
};

struct Stream {
  std::string path;
  int64_t bytes = 0;
  bool direct = false;
  void* memory = nullptr;
  int error = 0;
};

void write_stream(Stream& s) {
  const int fd = ::open(s.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | (s.direct ? O_DIRECT : 0), 0600);
  if (fd < 0) {
    s.error = errno;
    return;
  }
  (void)!::fallocate(fd, 0, 0, s.bytes);  // where it is unsupported, the file grows as it is written
  for (int64_t at = 0; at < s.bytes && s.error == 0; at += transfer_bytes)
    if (::pwrite(fd, s.memory, transfer_bytes, at) != transfer_bytes) s.error = errno ? errno : EIO;
  if (s.error == 0 && ::fdatasync(fd) != 0) s.error = errno;
  if (::close(fd) != 0 && s.error == 0) s.error = errno;
}

void read_stream(Stream& s) {
  const int fd = ::open(s.path.c_str(), O_RDONLY | O_CLOEXEC | (s.direct ? O_DIRECT : 0));
  if (fd < 0) {
    s.error = errno;
    return;
  }
  for (int64_t at = 0; at < s.bytes && s.error == 0; at += transfer_bytes)
    if (::pread(fd, s.memory, transfer_bytes, at) != transfer_bytes) s.error = errno ? errno : EIO;
  ::close(fd);
}

void drop(const Stream& s) {
  const int fd = ::open(s.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

double run_all(std::vector<Stream>& streams, void (*run)(Stream&)) {
  const double start = now();
  std::vector<std::thread> threads;
  for (size_t i = 1; i < streams.size(); ++i) threads.emplace_back(run, std::ref(streams[i]));
  run(streams[0]);
  for (std::thread& thread : threads) thread.join();
  return now() - start;
}

void settle(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::syncfs(fd);
  ::close(fd);
}

// One try of one row: write, drop, read, remove. False once the row has an error.
bool run_row(const std::string& folder, int64_t bytes, CeilingRow& row) {
  std::vector<Transfer> memory(static_cast<size_t>(row.streams));
  std::vector<Stream> streams;
  const int64_t share = bytes / row.streams / transfer_bytes * transfer_bytes;
  for (const Transfer& transfer : memory)
    streams.push_back({fmt::format("{}/ceiling{}", folder, streams.size()), share, row.io == "direct", transfer.get()});
  const double mebibytes = static_cast<double>(share * row.streams) / (1 << 20);
  settle(folder);
  const double writing = run_all(streams, write_stream);
  for (const Stream& s : streams) drop(s);
  const auto bad = [](const Stream& s) { return s.error != 0; };
  auto failed = std::find_if(streams.begin(), streams.end(), bad);
  if (failed == streams.end()) {
    row.write_rates.push_back(mebibytes / writing);
    const double reading = run_all(streams, read_stream);
    failed = std::find_if(streams.begin(), streams.end(), bad);
    if (failed == streams.end()) row.read_rates.push_back(mebibytes / reading);
  }
  if (failed != streams.end()) row.error = std::strerror(failed->error);
  for (const Stream& s : streams) ::unlink(s.path.c_str());
  return row.error.empty();
}

Ceiling measure(const CeilingRequest& request, int ranks) {
  Ceiling ceiling;
  ceiling.bytes = ceiling_bytes(request.total_bytes);
  ceiling.transfer_bytes = transfer_bytes;
  std::vector<int> counts = {1, 2};
  // Ranks that write side by side may get more out of a device than two streams do.
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
  // A rank that waits in a barrier spins on a core that the streams need, so the others wait asleep.
  std::byte token[1] = {};
  if (comm->rank() != 0) {
    PENSTOCK_ASSIGN(Request woken, comm->receive(0, awake_tag, token));
    for (;;) {
      PENSTOCK_ASSIGN(const bool done, woken.test());
      if (done) return Ceiling();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  Ceiling ceiling = measure(request, comm->size());
  std::vector<Request> requests;
  for (int rank = 1; rank < comm->size(); ++rank) {
    PENSTOCK_ASSIGN(Request sent, comm->send(rank, awake_tag, token));
    requests.push_back(std::move(sent));
  }
  PENSTOCK_TRY(wait_all(requests));
  return ceiling;
}

}  // namespace penstock::bench
