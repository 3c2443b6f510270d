// Service: one movement after another, from the first client's start to the last client's end.
#include "core/transport/servers/service.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <penstock/phase.hpp>

#include "core/base/guarded.hpp"
#include "core/transport/open_parts.hpp"
#include "core/transport/servers/aggregate.hpp"
#include "core/transport/servers/scratch.hpp"
#include "core/transport/servers/strips.hpp"

namespace penstock {
namespace {

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Bytes of PATH's blocks that the file system has already allocated.
int64_t allocated(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<int64_t>(info.st_blocks) * 512 : 0;
}

}  // namespace

struct Service::Job {
  struct Chunk {
    int client = 0;
    ServerMessage message;
    std::span<std::byte> memory;
  };

  Job(int clients, const ServerMessage& first, std::shared_ptr<Storage> storage_of_files)
      : reads((first.b & job_reads) != 0),
        syncs((first.b & job_syncs) != 0),
        scratch_folder(reads ? std::string() : first.text),
        storage(std::move(storage_of_files)),
        files(storage, (first.b & job_direct) != 0 ? Io::direct : Io::buffered, !reads),
        parts_of(static_cast<size_t>(clients)),
        chunks(static_cast<size_t>(clients)) {
    if (reads)
      cache.emplace([this](int64_t part, int64_t at, std::span<std::byte> to) { return read(part, at, to); },
                    [this](int64_t part) { return size(part); }, first.c);
    else
      aggregator.emplace(
          [this](int64_t part, int64_t at, std::span<const std::byte> from) { return write(part, at, from); }, first.c);
  }

  struct File {
    std::string path;
    int64_t bytes = 0;  // announced by the clients
    int64_t size = -1;  // of the file; -1: not yet determined
    std::unique_ptr<ScratchFile> scratch;
  };

  void add_part(int client, const ServerMessage& m) {
    auto& mine = parts_of[static_cast<size_t>(client)];
    mine.resize(std::max(mine.size(), static_cast<size_t>(m.number) + 1), -1);
    const auto [known, is_new] = by_path.try_emplace(m.text, std::ssize(list));
    if (is_new) list.push_back({m.text});
    list[static_cast<size_t>(known->second)].bytes += m.a;
    mine[static_cast<size_t>(m.number)] = known->second;
  }

  Result<StorageFile*> file_at(int64_t part) { return files.at(list[static_cast<size_t>(part)].path); }

  Status write(int64_t part, int64_t offset, std::span<const std::byte> bytes) {
    const double start = now();
    ++calls;
    moved += static_cast<int64_t>(bytes.size());
    if (scratch_folder.empty()) {
      PENSTOCK_ASSIGN(StorageFile * file, file_at(part));
      PENSTOCK_TRY(file->write(offset, bytes));
      target_seconds += now() - start;
      return {};
    }
    auto& scratch = list[static_cast<size_t>(part)].scratch;
    if (!scratch) {
      PENSTOCK_ASSIGN(scratch, ScratchFile::create(*storage, scratch_folder));
    }
    PENSTOCK_TRY(scratch->write(offset, bytes).in(fmt::format("scratch folder '{}'", scratch_folder)));
    scratch_seconds += now() - start;
    return {};
  }

  Status read(int64_t part, int64_t offset, std::span<std::byte> bytes) {
    const double start = now();
    ++calls;
    moved += static_cast<int64_t>(bytes.size());
    PENSTOCK_ASSIGN(StorageFile * file, file_at(part));
    PENSTOCK_TRY(file->read(offset, bytes));
    target_seconds += now() - start;
    return {};
  }

  Result<int64_t> size(int64_t part) {
    File& file = list[static_cast<size_t>(part)];
    if (file.size < 0) {
      PENSTOCK_ASSIGN(const FileStat info, storage->stat(file.path));
      file.size = info.bytes;
    }
    return file.size;
  }

  Status move_chunk(int client, const ServerMessage& m, std::span<std::byte> memory) {
    const auto size = static_cast<int64_t>(memory.size());
    const auto inside = [&](int64_t at, int64_t bytes) { return at >= 0 && bytes >= 0 && at <= size - bytes; };
    if (!inside(m.a, m.b) || !inside(m.c, m.d)) return broken();
    const auto part_of = [&](int64_t number) {
      const auto& mine = parts_of[static_cast<size_t>(client)];
      return number < static_cast<int64_t>(mine.size()) ? mine[static_cast<size_t>(number)] : -1;
    };
    StripReader strips(memory.subspan(static_cast<size_t>(m.c), static_cast<size_t>(m.d)));
    auto data = memory.subspan(static_cast<size_t>(m.a), static_cast<size_t>(m.b));
    for (Strip strip; strips.next(strip);) {
      const int64_t part = part_of(strip.part);
      if (part < 0) return broken();
      for (int64_t i = 0; i < strip.count; ++i) {
        if (strip.length > static_cast<int64_t>(data.size())) return broken();
        const auto run = data.first(static_cast<size_t>(strip.length));
        const int64_t offset = strip.offset + i * strip.step;
        PENSTOCK_TRY(reads ? cache->get(part, offset, run) : aggregator->put(part, offset, run));
        data = data.subspan(run.size());
      }
    }
    return strips.ok() && data.empty() ? Status() : broken();
  }

  static Status broken() { return {Code::internal, "a rank's description of its data is not consistent"}; }

  // The files exist, usually with their blocks; only missing blocks need space.
  Status check_room() {
    PENSTOCK_TRY(check_space(scratch_folder, announced, "scratch"));
    std::map<std::string, int64_t> needed;
    for (const File& file : list)
      needed[folder_of(file.path)] += std::max<int64_t>(0, file.bytes - allocated(file.path));
    for (const auto& [folder, bytes] : needed)
      if (bytes > 0) PENSTOCK_TRY(check_space(folder, bytes, "target"));
    return {};
  }

  Status copy_scratch() {
    const double start = now();
    for (File& file : list) {
      if (!file.scratch) continue;
      PENSTOCK_ASSIGN(StorageFile * target, files.at(file.path));
      PENSTOCK_TRY(file.scratch->copy_to(*target));
      file.scratch.reset();
    }
    target_seconds += now() - start;
    return {};
  }

  Status complete() {
    if (status.ok() && aggregator) status = aggregator->flush();
    if (status.ok() && !scratch_folder.empty()) status = copy_scratch();
    const double start = now();
    const Status closed = files.finish(status.ok() && syncs && !reads);
    target_seconds += now() - start;
    return status.ok() ? closed : status;
  }

  bool works_now(int clients) const { return ended == clients || (waiting > 0 && (reads || urgent)); }

  // Clients take turns, so that their data for the same blocks is combined.
  Chunk next_chunk() {
    do turn = (turn + 1) % chunks.size();
    while (chunks[turn].empty());
    Chunk chunk = std::move(chunks[turn].front());
    chunks[turn].pop_front();
    --waiting;
    return chunk;
  }

  bool reads, syncs;
  std::string scratch_folder;
  std::shared_ptr<Storage> storage;
  OpenParts files;
  std::vector<std::vector<int64_t>> parts_of;  // each client's numbers to positions in LIST
  std::vector<std::deque<Chunk>> chunks;       // of each client
  size_t turn = 0;
  int64_t waiting = 0;  // chunks
  bool urgent = false;
  std::vector<File> list;
  std::map<std::string, int64_t> by_path;
  std::optional<Aggregator> aggregator;
  std::optional<BlockCache> cache;
  Status status;
  int64_t announced = 0, begun = 0, ended = 0, ready = 0;
  int64_t calls = 0, moved = 0;
  double scratch_seconds = 0, target_seconds = 0;
};

Service::Service(int clients, std::shared_ptr<Storage> storage, Reply reply)
    : clients_(clients), storage_(std::move(storage)), reply_(std::move(reply)) {}
Service::~Service() = default;
bool Service::busy() const { return job_ != nullptr; }

void Service::handle(int client, const ServerMessage& m, std::span<std::byte> memory) {
  if (m.kind == ServerMessage::Kind::job) {
    if (!job_) job_ = std::make_unique<Job>(clients_, m, storage_);
    job_->announced += m.a;
    return;
  }
  if (!job_) return;  // messages of a movement come only after its start
  Job& job = *job_;
  switch (m.kind) {
    case ServerMessage::Kind::part: return job.add_part(client, m);
    case ServerMessage::Kind::ready: {
      if (++job.ready < clients_) return;
      job.status = guarded([&] { return job.check_room(); });
      ServerMessage reply{.kind = ServerMessage::Kind::ready, .code = job.status.code(), .text = job.status.message()};
      for (int c = 0; c < clients_; ++c) reply_(c, reply);
      return;
    }
    case ServerMessage::Kind::chunk: {
      ++job.waiting;
      job.chunks[static_cast<size_t>(client)].push_back({client, m, memory});
      return;
    }
    case ServerMessage::Kind::urgent: job.urgent = true; return;
    case ServerMessage::Kind::end: ++job.ended; return;
    default: return;
  }
}

bool Service::has_work() const { return job_ && job_->works_now(clients_); }

void Service::work() {
  if (!has_work()) return;
  Job& job = *job_;
  if (job.waiting > 0) {
    const Job::Chunk chunk = job.next_chunk();
    if (job.status.ok())
      job.status = guarded([&] { return job.move_chunk(chunk.client, chunk.message, chunk.memory); });
    return reply_(chunk.client,
                  {.kind = ServerMessage::Kind::freed, .number = chunk.message.number, .code = job.status.code()});
  }
  const Status status = guarded([&] { return job.complete(); });
  const ServerMessage reply{.kind = ServerMessage::Kind::done,
                            .a = job.moved,
                            .b = job.calls,
                            .c = job.aggregator ? job.aggregator->peak_buffered() : 0,
                            .x = job.scratch_seconds,
                            .y = job.target_seconds,
                            .code = status.code(),
                            .text = status.message()};
  job_.reset();
  for (int c = 0; c < clients_; ++c) reply_(c, reply);
}

}  // namespace penstock
