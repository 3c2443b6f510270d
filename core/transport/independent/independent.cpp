// independent: every rank moves its own runs by its own system calls. Best for large contiguous blocks and for separate
// files; poor for many short runs, since adjacent ranks then share file blocks.
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "core/transport/move.hpp"
#include "core/transport/open_parts.hpp"
#include "core/transport/relay.hpp"

namespace penstock {
namespace {

const Descriptor descriptor{
    "independent",
    "every rank writes its own runs: for large contiguous blocks, or separate files",
    {{"io", Parameter::Type::choice, "buffered|direct|mmap", "buffered", "how the file system is called"},
     queue_depth,
     {"buffer_bytes", Parameter::Type::bytes, "4096", "4MiB",
      "neighbouring runs that are apart in memory are gathered into one call of at most this size"},
     max_concurrent_writers},
    ""};

class IndependentTransfer : public Transfer {
 public:
  IndependentTransfer(const Job& job, const Settings& settings)
      : job_(job),
        files_(job.files, io_mode(job, settings), job.direction == Direction::write),
        buffer_bytes_(std::min(settings.integer("buffer_bytes"), settings.integer("memory_bytes") / 2)),
        relay_(job.comm, settings.integer("max_concurrent_writers")) {}

  Status begin() { return relay_.start(); }

  Result<bool> progress(double seconds) override {
    const double deadline = now() + seconds;
    PENSTOCK_ASSIGN(const bool mine, relay_.my_turn());
    if (!mine) return false;
    while (piece_ < job_.pieces.size()) {
      PENSTOCK_TRY(move_piece(job_.pieces[piece_++]));
      if (now() > deadline) break;
    }
    return piece_ == job_.pieces.size();
  }

  Status finish() override {
    Status status = relay_.wait();
    if (status.ok()) status = move_all();
    const Status passed = relay_.pass_on();
    return status.ok() ? passed : status;
  }

  Needs needs() const override { return relay_.waits() ? Needs::messages : Needs::nothing; }
  Moved moved() const override { return {touched_, static_cast<int64_t>(buffer_.capacity())}; }

 private:
  Status move_all() {
    Status status;
    while (status.ok() && piece_ < job_.pieces.size()) status = move_piece(job_.pieces[piece_++]);
    touched_ = files_.any();
    PhaseTimer timer(*job_.phases, Phase::sync);
    const Status closed = files_.finish(status.ok() && job_.sync && job_.direction == Direction::write);
    return status.ok() ? closed : status;
  }

  // Contiguous slices in the file form one call.
  struct Batch {
    AddressRange range;
    std::byte* memory = nullptr;  // that of the only slice, if it needs no copy

    int64_t bytes() const { return range.end - range.begin; }
  };

  Status move_piece(const Piece& piece) {
    const Part& part = job_.parts[static_cast<size_t>(piece.part)];
    PENSTOCK_ASSIGN(StorageFile * file, files_.at(part.path));
    SliceCursor cursor(piece, part.virtual_base, part.virtual_base + part.bytes);
    Batch batch;
    for (Slice slice; cursor.next(slice);) {
      const bool flat = slice.stride == 1 && piece.swap_bytes <= 1;
      const int64_t end = slice.address + slice.bytes;
      std::byte* memory = flat ? piece.memory + slice.memory * piece.element_bytes + slice.skip : nullptr;
      if (flat && slice.bytes >= buffer_bytes_ / 4) {  // large enough to move without a copy
        PENSTOCK_TRY(move_batch(piece, part, *file, batch));
        PENSTOCK_TRY(move_batch(piece, part, *file, {{slice.address, end}, memory}));
        batch = {};
        continue;
      }
      for (int64_t at = slice.address; at < end; at = batch.range.end) {
        if (batch.bytes() == 0 || batch.range.end != at || batch.bytes() == buffer_bytes_) {
          PENSTOCK_TRY(move_batch(piece, part, *file, batch));
          batch = {{at, at}, flat ? memory + (at - slice.address) : nullptr};
        } else {
          batch.memory = nullptr;
        }
        batch.range.end = std::min(end, batch.range.begin + buffer_bytes_);
      }
    }
    return move_batch(piece, part, *file, batch);
  }

  Status move_batch(const Piece& piece, const Part& part, StorageFile& file, const Batch& batch) {
    if (batch.bytes() == 0) return {};
    job_.comm->working(0);
    const bool writing = job_.direction == Direction::write, staged = batch.memory == nullptr;
    if (staged) buffer_.resize(static_cast<size_t>(buffer_bytes_));
    if (staged && writing) copy_batch(piece, batch);
    {
      PhaseTimer timer(*job_.phases, writing ? Phase::write : Phase::read);
      const std::span flat(staged ? buffer_.data() : batch.memory, static_cast<size_t>(batch.bytes()));
      const int64_t offset = batch.range.begin - part.virtual_base;
      PENSTOCK_TRY(writing ? file.write(offset, flat) : file.read(offset, flat));
    }
    if (staged && !writing) copy_batch(piece, batch);
    return {};
  }

  void copy_batch(const Piece& piece, const Batch& batch) {
    PhaseTimer timer(*job_.phases, Phase::pack);
    copy_window(piece, batch.range, buffer_.data(), job_.direction);
  }

  const Job& job_;
  OpenParts files_;
  int64_t buffer_bytes_;
  Relay relay_;
  size_t piece_ = 0;
  std::vector<std::byte> buffer_;
  bool touched_ = false;
};

class Independent : public Transport {
 public:
  const Descriptor& describe() const override { return descriptor; }
  std::optional<Work> estimate(const Problem& problem, const Settings& settings) const override {
    constexpr int64_t min_direct_run = 1 << 20;  // shorter ones go in part through the page cache
    const int64_t run = std::max<int64_t>(problem.run_bytes, 1);
    const bool direct = settings.word("io") == "direct";
    if (settings.word("io") == "mmap" || (direct && run < min_direct_run)) return {};
    Work work;
    work.bytes = problem.bytes * problem.ranks;
    work.movers = problem.ranks;
    work.calls = std::max(work.bytes / run, problem.blocks * problem.ranks);
    work.direct = direct;
    return work;
  }
  Result<std::unique_ptr<Transfer>> begin(const Job& job, const Settings& settings) const override {
    return begun<IndependentTransfer>(job, settings);
  }
};

}  // namespace

const Transport& independent_transport() {
  static const Independent transport;
  return transport;
}

}  // namespace penstock
