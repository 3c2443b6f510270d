// independent: every rank moves its own runs by its own system calls. Best for large contiguous blocks and for
// separate files; poor for many short runs, since neighbours then share file blocks.
#include <algorithm>
#include <cstring>

#include "core/transport/move.hpp"
#include "core/transport/open_parts.hpp"
#include "core/transport/relay.hpp"

namespace penstock {
namespace {

const Descriptor descriptor{
    "independent",
    "every rank writes its own runs: for large contiguous blocks, or separate files",
    {{"io", Parameter::Type::choice, "buffered|direct|mmap", "buffered", "how the file system is called"},
     {"buffer_bytes", Parameter::Type::bytes, "4096", "4MiB",
      "neighbouring runs that are apart in memory are gathered into one call of at most this size"},
     max_concurrent_writers},
    ""};

class IndependentTransfer : public Transfer {
 public:
  IndependentTransfer(const Job& job, const Settings& settings)
      : job_(job),
        files_(job.storage, parse_io(settings.word("io")), job.direction == Direction::write),
        buffer_bytes_(std::min(settings.integer("buffer_bytes"), settings.integer("memory_bytes") / 2)),
        most_slices_(static_cast<size_t>(settings.integer("memory_bytes") / 2) / sizeof(Slice)),
        relay_(job.comm, settings.integer("max_concurrent_writers")) {}

  Status start() { return relay_.start(); }

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

  bool communicates() const override { return relay_.waits(); }
  bool touched_files() const override { return touched_; }
  int64_t memory_peak() const override {
    return static_cast<int64_t>(buffer_.capacity() + batch_.capacity() * sizeof(Slice));
  }

 private:
  Status move_all() {
    Status status;
    while (status.ok() && piece_ < job_.pieces.size()) status = move_piece(job_.pieces[piece_++]);
    touched_ = files_.any();
    PhaseTimer timer(*job_.phases, Phase::sync);
    const Status closed = files_.finish(status.ok() && job_.sync && job_.direction == Direction::write);
    return status.ok() ? closed : status;
  }

  // Slices that follow one another in the file are one batch; a batch is one call.
  Status move_piece(const Piece& piece) {
    const Part& part = job_.parts[static_cast<size_t>(piece.part)];
    PENSTOCK_ASSIGN(StorageFile * file, files_.at(part.path));
    SliceCursor cursor(piece, part.virtual_base, part.virtual_base + part.bytes);
    batch_.clear();
    int64_t batch_bytes = 0;
    const auto flush = [&] {
      const Status status = move_batch(piece, part, *file, batch_bytes);
      batch_.clear();
      batch_bytes = 0;
      return status;
    };
    for (Slice slice; cursor.next(slice);) {
      const bool flat = slice.stride == 1 && piece.swap_bytes <= 1;
      if (flat && slice.bytes >= buffer_bytes_ / 4) {  // large enough to go without a copy
        PENSTOCK_TRY(flush());
        batch_ = {slice};
        batch_bytes = slice.bytes;
        PENSTOCK_TRY(flush());
        continue;
      }
      while (slice.bytes > 0) {
        if (!batch_.empty() && (batch_.back().address + batch_.back().bytes != slice.address ||
                                batch_bytes == buffer_bytes_ || batch_.size() >= most_slices_))
          PENSTOCK_TRY(flush());
        Slice head = slice;
        head.bytes = std::min(slice.bytes, buffer_bytes_ - batch_bytes);
        batch_.push_back(head);
        batch_bytes += head.bytes;
        slice.address += head.bytes;
        slice.skip += head.bytes;
        slice.bytes -= head.bytes;
      }
    }
    return flush();
  }

  Status move_batch(const Piece& piece, const Part& part, StorageFile& file, int64_t bytes) {
    if (batch_.empty()) return {};
    const bool writing = job_.direction == Direction::write;
    const int64_t offset = batch_.front().address - part.virtual_base;
    const Slice& only = batch_.front();
    std::byte* flat = piece.memory + only.memory * piece.element_bytes + only.skip;
    const bool staged = batch_.size() > 1 || only.stride != 1 || piece.swap_bytes > 1;
    if (staged) {
      buffer_.resize(static_cast<size_t>(buffer_bytes_));
      flat = buffer_.data();
      if (writing) copy_batch(piece);
    }
    {
      PhaseTimer timer(*job_.phases, writing ? Phase::write : Phase::read);
      if (writing)
        PENSTOCK_TRY(file.write(offset, std::span(flat, static_cast<size_t>(bytes))));
      else
        PENSTOCK_TRY(file.read(offset, std::span(flat, static_cast<size_t>(bytes))));
    }
    if (staged && !writing) copy_batch(piece);
    return {};
  }

  void copy_batch(const Piece& piece) {
    PhaseTimer timer(*job_.phases, Phase::pack);
    std::byte* at = buffer_.data();
    for (const Slice& slice : batch_) {
      copy_slice(piece, slice, at, job_.direction);
      at += slice.bytes;
    }
  }

  const Job& job_;
  OpenParts files_;
  int64_t buffer_bytes_;
  size_t most_slices_;
  Relay relay_;
  size_t piece_ = 0;
  std::vector<Slice> batch_;
  std::vector<std::byte> buffer_;
  bool touched_ = false;
};

class Independent : public Transport {
 public:
  const Descriptor& describe() const override { return descriptor; }
  Result<std::unique_ptr<Transfer>> begin(const Job& job, const Settings& settings) const override {
    auto transfer = std::make_unique<IndependentTransfer>(job, settings);
    PENSTOCK_TRY(transfer->start());
    return std::unique_ptr<Transfer>(std::move(transfer));
  }
};

}  // namespace

const Transport& independent_transport() {
  static const Independent transport;
  return transport;
}

}  // namespace penstock
