// File: the table of open files, and what one rank does alone.
#include "bindings/mpiio/file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "bindings/mpiio/immediate.hpp"
#include "core/transport/transport.hpp"

namespace penstock::mpiio {
namespace {

constexpr int64_t most_joined = 1 << 20;  // runs that follow each other in the file are written together up to this
constexpr int64_t sieve = 4 << 20;        // reads of runs that are near each other
constexpr int64_t sieve_gap = 16 << 10;   // near enough

struct Table {
  std::mutex mutex;
  std::vector<std::shared_ptr<File>> files;
};

Table& table() {
  static Table& one = *new Table;  // MPI may end after the program's static objects are destroyed
  return one;
}

std::span<const std::byte> bytes_of(const Run& run) { return {run.data, static_cast<size_t>(run.length)}; }
std::span<std::byte> room_of(const Run& run) { return {run.data, static_cast<size_t>(run.length)}; }
int64_t end_of(const Run& run) { return run.offset + run.length; }

Status write_runs(StorageFile& file, std::span<const Run> runs) {
  std::vector<std::byte> buffer;
  for (size_t i = 0; i < runs.size();) {
    size_t next = i + 1;
    int64_t length = runs[i].length;
    while (next < runs.size() && end_of(runs[next - 1]) == runs[next].offset &&
           length + runs[next].length <= most_joined)
      length += runs[next++].length;
    if (next == i + 1) {
      PENSTOCK_TRY(file.write(runs[i].offset, bytes_of(runs[i])));
    } else {
      buffer.clear();
      for (size_t k = i; k < next; ++k) buffer.insert(buffer.end(), runs[k].data, runs[k].data + runs[k].length);
      PENSTOCK_TRY(file.write(runs[i].offset, buffer));
    }
    i = next;
  }
  return {};
}

// Runs that are near each other by one read, if most of what is read is wanted.
Status read_runs(StorageFile& file, std::span<const Run> runs) {
  std::vector<std::byte> buffer;
  for (size_t i = 0; i < runs.size();) {
    size_t next = i + 1;
    int64_t end = end_of(runs[i]), wanted = runs[i].length;
    while (next < runs.size() && runs[next].offset >= runs[next - 1].offset && runs[next].offset - end <= sieve_gap &&
           end_of(runs[next]) - runs[i].offset <= sieve) {
      end = std::max(end, end_of(runs[next]));
      wanted += runs[next++].length;
    }
    const int64_t begin = runs[i].offset;
    if (next == i + 1 || wanted * 8 < end - begin) {
      for (; i < next; ++i) PENSTOCK_TRY(file.read(runs[i].offset, room_of(runs[i])));
      continue;
    }
    buffer.resize(static_cast<size_t>(end - begin));
    PENSTOCK_TRY(file.read(begin, buffer));
    for (; i < next; ++i)
      std::memcpy(runs[i].data, buffer.data() + (runs[i].offset - begin), static_cast<size_t>(runs[i].length));
  }
  return {};
}

// The file has what this rank has sent to others, by any handle.
Status settle_all(File& file) {
  PENSTOCK_TRY(settle(file));
  for (const auto& other : others(file)) {
    const std::unique_lock lock(other->busy, std::try_to_lock);
    if (lock.owns_lock()) PENSTOCK_TRY(settle(*other));
  }
  return {};
}

// The parts of RUNS before byte END.
std::vector<Run> before(std::span<const Run> runs, int64_t end) {
  std::vector<Run> there;
  for (Run run : runs) {
    run.length = std::min(run.length, end - run.offset);
    if (run.length > 0) there.push_back(run);
  }
  return there;
}

}  // namespace

std::shared_ptr<File> find(MPI_File handle) {
  const std::lock_guard lock(table().mutex);
  const auto found = std::ranges::find_if(table().files, [&](const auto& file) { return file->handle == handle; });
  return found == table().files.end() ? nullptr : *found;
}

void remember(const std::shared_ptr<File>& file) {
  const std::lock_guard lock(table().mutex);
  table().files.push_back(file);
}

void forget(MPI_File handle) {
  const std::lock_guard lock(table().mutex);
  std::erase_if(table().files, [&](const auto& file) { return file->handle == handle; });
}

std::vector<std::shared_ptr<File>> open_files() {
  const std::lock_guard lock(table().mutex);
  return table().files;
}

std::vector<std::shared_ptr<File>> others(const File& file) {
  std::vector<std::shared_ptr<File>> found;
  const std::lock_guard lock(table().mutex);
  for (const auto& other : table().files)
    if (other.get() != &file && other->device == file.device && other->inode == file.inode) found.push_back(other);
  return found;
}

bool is_committed(const File& file, MPI_Datatype type) {
  const char nothing = 0;  // not looked at, but MPICH asks nothing of a type of which no element is sent
  return PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, 0, file.native) == MPI_SUCCESS;
}

std::string path_now(File& file) {
  const auto stat = file.statistics->storage->stat(file.path);
  if (stat.ok() && stat->device == file.device && stat->inode == file.inode) return file.path;
  return fmt::format("/proc/self/fd/{}", file.held.get());
}

Result<StorageFile*> storage_file(File& file) {
  if (!file.storage_file) {
    PENSTOCK_ASSIGN(file.storage_file, open_storage(file, Io::buffered, file.writable()));
  }
  return file.storage_file.get();
}

Result<int64_t> size_of(File& file) {
  PENSTOCK_TRY(settle_all(file));
  struct stat info{};
  if (::fstat(file.held.get(), &info) != 0) return Status::from_errno(errno, "'" + file.path + "': its size");
  return info.st_size;
}

namespace {

Status write_now(File& file, std::span<const Run> runs) {
  PENSTOCK_TRY(settle_all(file));
  PENSTOCK_TRY(wait_for_background(file, hull_of(runs)));
  PENSTOCK_ASSIGN(StorageFile * storage, storage_file(file));
  return write_runs(*storage, runs);
}

}  // namespace

Status write_alone(File& file, std::span<const Run> runs) {
  if (runs.empty()) return {};
  file.alone.drop(runs);
  PENSTOCK_TRY(write_now(file, runs));
  note_immediate(file.kept, runs, std::ssize(file.kept.calls));
  for (const auto& other : others(file)) {
    const std::unique_lock lock(other->busy, std::try_to_lock);
    if (lock.owns_lock()) note_immediate(other->kept, runs, std::ssize(other->kept.calls));
  }
  return {};
}

Status write_own(File& file) {
  Kept& kept = file.kept;
  take_out_own(kept);
  kept.own = {};
  for (size_t c = 0; c < kept.calls.size(); ++c) {
    std::vector<Run>& runs = kept.calls[c].runs;
    if (runs.empty()) continue;
    PENSTOCK_TRY(write_now(file, runs));
    note_immediate(kept, runs, static_cast<int64_t>(c));
    runs.clear();
  }
  kept.taken_out = kept.immediate.size();
  kept.arena = {};
  kept.bytes = 0;
  return {};
}

Result<int64_t> read_alone(File& file, const std::vector<Run>& runs) {
  if (runs.empty()) return int64_t{0};
  PENSTOCK_TRY(settle_all(file));
  PENSTOCK_TRY(wait_for_background(file, hull_of(runs)));
  PENSTOCK_ASSIGN(StorageFile * storage, storage_file(file));
  const auto also = others(file);
  std::vector<Run> there = runs;
  Status status = read_runs(*storage, runs);
  if (status.code() == Code::damaged) {  // the file ends before; what is kept may lie behind its end
    PENSTOCK_ASSIGN(const int64_t size, size_of(file));
    int64_t end = std::max(size, kept_end(file));
    for (const auto& other : also) end = std::max(end, kept_end(*other));
    there = before(runs, end);
    for (const Run& run : there)
      if (end_of(run) > size) std::memset(run.data, 0, static_cast<size_t>(run.length));
    status = read_runs(*storage, before(runs, size));
  }
  PENSTOCK_TRY(status);
  overlay(file.kept, there);
  file.alone.overlay(there);
  overlay_others(file, there);
  return penstock::mpiio::bytes_of(there);
}

void overlay_others(File& file, std::span<const Run> runs) {
  for (const auto& other : others(file)) {
    const std::unique_lock lock(other->busy, std::try_to_lock);
    if (lock.owns_lock()) overlay(other->kept, runs);
  }
}

int64_t kept_end(const File& file) {
  Hull hull;
  for (const Kept::Call& call : file.kept.calls) hull.add(call.hull);
  const int64_t behind = file.background == nullptr ? 0 : file.background->noted_end();
  return std::max({int64_t{0}, hull.last, file.alone.end(), behind});
}

}  // namespace penstock::mpiio
