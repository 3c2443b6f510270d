// Parity: reads parts back in windows, adds them along a tree, and writes the result by the readers in turn.
#include "core/integrity/parity.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/base/encode.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/share.hpp"

namespace penstock {
namespace {

constexpr int64_t max_window = 4 << 20;
constexpr size_t max_open = 64;  // open sources per rank; others are opened for each window
constexpr int sum_tag = 0;

using Window = std::span<std::byte>;

void add(Window sum, std::span<const std::byte> other) {
  for (size_t i = 0; i < other.size(); ++i) sum[i] ^= other[i];
}

// Collective. Adds the windows SUM of all ranks to that of ROOT; OTHER has the same length.
Status reduce(const Communicator& comm, int root, Window sum, Window other) {
  const int size = comm->size(), relative = (comm->rank() - root + size) % size;
  for (int distance = 1; distance < size; distance *= 2) {
    if ((relative & distance) != 0) {
      PENSTOCK_ASSIGN(Request sent, comm->send((relative - distance + root) % size, sum_tag, sum));
      const Status status = wait_all(std::span(&sent, 1));
      if (!status.ok()) sent.abandon();
      return status;
    }
    if (relative + distance >= size) continue;
    PENSTOCK_ASSIGN(Request received, comm->receive((relative + distance + root) % size, sum_tag, other));
    PENSTOCK_TRY(wait_all(std::span(&received, 1)));
    add(sum, other);
  }
  return {};
}

// The open sources and target of one rank.
class Combiner {
 public:
  Status open(Storage& storage, std::vector<Source>& sources, const Combined& target, int64_t window) {
    storage_ = &storage;
    for (Source& source : sources) {
      source.sum = 0;
      sources_.push_back(&source);
      if (files_.size() == max_open) continue;
      PENSTOCK_ASSIGN(files_.emplace_back(), storage.open(source.path, Io::automatic, false));
    }
    PENSTOCK_ASSIGN(out_, storage.open(target.path, target.io, true));
    window_ = window;
    sum_ = std::make_unique<std::byte[]>(static_cast<size_t>(window));
    other_ = std::make_unique<std::byte[]>(static_cast<size_t>(window));
    return {};
  }

  // READERS are those of ALL with sources.
  Status run(const Communicator& all, const Communicator& readers, const Combined& target) {
    int root = 0;
    for (int64_t at = 0; at < target.bytes; at += window_, root = (root + 1) % readers->size()) {
      const auto length = static_cast<size_t>(std::min(window_, target.bytes - at));
      const Window here(sum_.get(), length), there(other_.get(), length);
      all->working(0);
      readers->working(0);
      std::ranges::fill(here, std::byte{0});
      if (status_.ok()) keep(read(at, here, there));
      if (Status lost = reduce(readers, root, here, there); !lost.ok()) {
        (void)sum_.release(), (void)other_.release();  // messages in progress may use them forever
        return lost;
      }
      if (root == readers->rank() && status_.ok()) keep(out_->write(at, here));
    }
    if (status_.ok() && target.sync) keep(out_->sync());
    keep(out_->close());
    return status_;
  }

 private:
  void keep(const Status& status) {
    if (status_.ok()) status_ = status;
  }

  Status read(int64_t at, Window sum, Window other) {
    for (size_t i = 0; i < sources_.size(); ++i) {
      Source& source = *sources_[i];
      const int64_t left = std::min(std::ssize(sum), source.bytes - at);
      if (left <= 0) continue;
      const Window piece = other.first(static_cast<size_t>(left));
      StorageFilePtr once;
      if (i >= files_.size()) {
        PENSTOCK_ASSIGN(once, storage_->open(source.path, Io::automatic, false));
      }
      PENSTOCK_TRY((once ? once : files_[i])->read(at, piece));
      source.sum = crc64(piece, source.sum);
      add(sum, piece);
    }
    return {};
  }

  Storage* storage_ = nullptr;
  std::vector<Source*> sources_;
  std::vector<StorageFilePtr> files_;
  StorageFilePtr out_;
  int64_t window_ = 0;
  std::unique_ptr<std::byte[]> sum_, other_;
  Status status_;  // the first failure; this rank takes part in the sums until the end
};

// The parts of the set that this rank reads back: its own files, or a share of those known to all ranks.
std::vector<Source> parts_to_read(const Target& target, const Output& output) {
  std::vector<Source> mine;
  const auto& parts = output.placed.parts;
  for (size_t p = 0; p < parts.size(); ++p)
    if (target.method.own_files || is_reader(target, p, parts.size())) mine.push_back({parts[p].path});
  return mine;
}

}  // namespace

int64_t combine_window(const Target& target) {
  const int64_t most = std::min(max_window, target.buffer_bytes);
  return std::max(direct_alignment, most / direct_alignment * direct_alignment);
}

Status combine(const Communicator& comm, Storage& storage, std::vector<Source>& sources, const Combined& target,
               int64_t window) {
  PENSTOCK_ASSIGN(const Communicator readers, comm->split(sources.empty() ? -1 : 0));
  Combiner combiner;
  const auto open = [&] { return combiner.open(storage, sources, target, window); };
  PENSTOCK_TRY(agree(comm, readers ? guarded(open) : Status()));
  return agree(comm, readers ? combiner.run(comm, readers, target) : Status());
}

uint64_t parity_sum(const std::vector<FileSum>& parts, int64_t bytes) {
  uint64_t linear = 0;
  for (const FileSum& part : parts)
    linear ^= Crc64Zeros(bytes - part.bytes).after(crc64_from_linear(part.sum, part.bytes));
  return crc64_from_linear(linear, bytes);
}

Status make_parity(const Target& target, std::vector<Source> mine, const std::string& path, Io io,
                   std::vector<std::string>& created, Contents& contents) {
  Status status;
  int64_t longest = 0;
  for (Source& source : mine) {
    const auto info = target.storage->stat(source.path);
    if (!info.ok() && status.ok()) status = info.status();
    if (info.ok()) source.bytes = info->bytes;
    longest = std::max(longest, source.bytes);
  }
  PENSTOCK_TRY(agree(target.comm, status));
  PENSTOCK_TRY(target.comm->all_reduce_max(std::span(&longest, 1)));
  PENSTOCK_TRY(on_rank_0(target.comm, [&]() -> Status {
    PENSTOCK_ASSIGN(auto file, target.storage->create(path, longest, Io::buffered, target.preallocate, target.access));
    created.push_back(path);
    return file->close();
  }));
  const int64_t window = combine_window(target);
  PENSTOCK_TRY(combine(target.comm, *target.storage, mine, {path, longest, io, target.durable}, window));

  Encoder out;
  for (const Source& source : mine) out.value(FileSum{source.bytes, source.sum});
  PENSTOCK_ASSIGN(const auto all, target.comm->gather(out.take(), 0));
  if (target.comm->rank() == 0) {
    Parity parity{path, {longest, 0}, {}};
    for (const auto& one : all)
      for (Decoder in(one); !in.done();) parity.parts.push_back(in.value<FileSum>());
    parity.file.sum = parity_sum(parity.parts, longest);
    if (parity.parts.size() != contents.parts.size())
      status = {Code::internal,
                fmt::format("the parity of {} files was made of {}", contents.parts.size(), parity.parts.size())};
    contents.parity = std::move(parity);
  }
  return agree(target.comm, status);
}

Status write_parity(const Target& target, Output& output) {
  if (!target.parity) return {};
  const Io io = output.placed.io == Io::direct ? Io::direct : Io::buffered;
  return make_parity(target, parts_to_read(target, output), parity_path(target, fmt::format("{:016x}", target.token)),
                     io, output.created, output.placed.contents);
}

}  // namespace penstock
