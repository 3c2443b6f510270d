// Ahead: two buffers for each rank, one being filled by the encoder while the other is written.
#include "core/commit/ahead.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/background.hpp"
#include "core/base/guarded.hpp"
#include "core/base/units.hpp"
#include "core/storage/aligned.hpp"

namespace penstock {
namespace {

// The buffers and the thread of one rank.
class Writer {
 public:
  explicit Writer(bool threaded) : helper_(threaded) {}

  Status open(Files& files, const AheadFile& file, IoMode mode, int64_t bytes, bool two) {
    if (bytes == 0) return {};
    PENSTOCK_ASSIGN(file_, files.open(file.path, mode, true));
    bytes_ = bytes;
    for (int i = 0; i < (two ? 2 : 1); ++i) {
      buffers_[i] = aligned_memory(bytes);
      if (buffers_[i] == nullptr) return {Code::memory, "no memory for encoded chunks: lower memory_bytes"};
    }
    return {};
  }
  // The buffer that is filled next.
  std::span<std::byte> buffer() const {
    const int next = buffers_[1] ? filled_ % 2 : 0;
    return {buffers_[next].get(), static_cast<size_t>(buffers_[next] ? bytes_ : 0)};
  }
  // Writes the first BYTES of the buffer when the one before is written, whose status it returns.
  Status write(int64_t offset, int64_t bytes) {
    const std::span<const std::byte> from = buffer().first(static_cast<size_t>(bytes));
    ++filled_;
    return helper_.submit([this, offset, from] { return file_->write(offset, from); });
  }
  Status finish() {
    const Status status = helper_.wait();
    const Status closed = file_ ? file_->close() : Status();
    return status.ok() ? closed : status;
  }

 private:
  StorageFilePtr file_;
  AlignedMemory buffers_[2];
  int64_t bytes_ = 0;
  int filled_ = 0;
  Background helper_;  // last: its task uses the others
};

}  // namespace

Result<int64_t> write_ahead(const Communicator& comm, Files& files, IoMode mode, ChunkStore& store,
                            const Batches& batches, AheadFile& file, PhaseTimes& phases) {
  const int64_t size = round_up(batches.bytes, direct_alignment);
  Writer writer(comm->threads_allowed());
  Status failure = guarded([&] { return writer.open(files, file, mode, size, batches.rounds > 1); });
  for (int64_t round = 0; round < batches.rounds; ++round) {
    if (failure.ok()) store.fill(writer.buffer());
    Status encoded = guarded([&] { return batches.encode(round); });
    {
      PhaseTimer timer(phases, Phase::pack);
      const Status finished = store.finish();  // also after a failure: threads may be using the buffer
      if (encoded.ok()) encoded = finished;
    }
    if (failure.ok()) failure = encoded;
    const int64_t taken = store.filled(), padded = round_up(taken, direct_alignment);
    int64_t sums[2] = {padded, failure.ok() ? 0 : 1}, before[2];
    {
      PhaseTimer timer(phases, Phase::exchange);
      PENSTOCK_TRY(comm->exclusive_sum(sums, before));
    }
    if (sums[1] > 0) break;
    PhaseTimer timer(phases, Phase::write);
    failure = guarded([&]() -> Status {
      store.place(file.end + before[0]);
      if (taken == 0) return {};
      std::ranges::fill(writer.buffer().subspan(static_cast<size_t>(taken), static_cast<size_t>(padded - taken)),
                        std::byte{});
      return writer.write(file.end + before[0], padded);
    });
    file.end += sums[0];
  }
  PhaseTimer timer(phases, Phase::write);
  const Status written = guarded([&] { return writer.finish(); });
  PENSTOCK_TRY(agree(comm, failure.ok() ? written : failure));
  return (batches.rounds > 1 ? 2 : 1) * size;
}

}  // namespace penstock
