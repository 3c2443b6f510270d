// plain: every rank moves its own runs, one system call each; the smallest transport there can be.
#include <algorithm>

#include "core/transport/move.hpp"
#include "core/transport/open_parts.hpp"

namespace penstock {
namespace {

const Descriptor descriptor{"plain",
                            "one system call for each contiguous run: the example of the tutorial",
                            {{"max_bytes", Parameter::Type::bytes, "1", "1MiB", "of one call; longer runs are cut"}},
                            ""};

class PlainTransfer final : public Transfer {
 public:
  PlainTransfer(const Job& job, int64_t max_bytes)
      : job_(job), max_bytes_(max_bytes), files_(job.files, Io::buffered, job.direction == Direction::write) {}

  Result<bool> progress(double) override { return true; }  // all of it happens in finish

  Status finish() override {
    Status status;
    for (size_t i = 0; i < job_.pieces.size() && status.ok(); ++i) status = move(job_.pieces[i]);
    touched_ = files_.any();
    PhaseTimer timer(*job_.phases, Phase::sync);
    const Status closed = files_.finish(status.ok() && job_.sync && job_.direction == Direction::write);
    return status.ok() ? closed : status;
  }

  Needs needs() const override { return Needs::nothing; }
  Moved moved() const override { return {touched_}; }

 private:
  Status move(const Piece& piece) {
    const Part& part = job_.parts[static_cast<size_t>(piece.part)];
    PENSTOCK_ASSIGN(StorageFile * file, files_.at(part.path));
    SliceCursor cursor(piece, part.virtual_base, part.virtual_base + part.bytes);
    for (Slice slice; cursor.next(slice);)
      for (int64_t at = 0; at < slice.bytes; at += max_bytes_) {
        Slice cut = slice;
        cut.address += at;
        cut.skip += at;
        cut.bytes = std::min(max_bytes_, slice.bytes - at);
        PENSTOCK_TRY(move(piece, cut, cut.address - part.virtual_base, *file));
      }
    return {};
  }

  Status move(const Piece& piece, const Slice& slice, int64_t offset, StorageFile& file) {
    buffer_.resize(static_cast<size_t>(slice.bytes));
    PhaseTimer timer(*job_.phases, job_.direction == Direction::write ? Phase::write : Phase::read);
    if (job_.direction == Direction::write) {
      copy_slice(piece, slice, buffer_.data(), Direction::write);
      return file.write(offset, buffer_);
    }
    PENSTOCK_TRY(file.read(offset, buffer_));
    copy_slice(piece, slice, buffer_.data(), Direction::read);
    return {};
  }

  const Job& job_;
  int64_t max_bytes_;
  OpenParts files_;
  std::vector<std::byte> buffer_;
  bool touched_ = false;
};

class Plain final : public Transport {
 public:
  const Descriptor& describe() const override { return descriptor; }
  Result<std::unique_ptr<Transfer>> begin(const Job& job, const Settings& settings) const override {
    return std::unique_ptr<Transfer>(std::make_unique<PlainTransfer>(job, settings.integer("max_bytes")));
  }
};

}  // namespace

const Transport& plain_transport() {
  static const Plain transport;
  return transport;
}

}  // namespace penstock
