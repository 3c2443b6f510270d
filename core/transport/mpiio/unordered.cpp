// Unordered: the shared file pointer, moved by each rank when it is ready. The location of a block is not known in
// advance, so each has a header, and all have the same size.
#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "core/base/library_gate.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/comm/share.hpp"
#include "core/transport/mpiio/call.hpp"
#include "core/transport/mpiio/deliver.hpp"
#include "core/transport/mpiio/records.hpp"
#include "core/transport/mpiio/transfers.hpp"

namespace penstock::mpiio {
namespace {

class RecordWriter : public Transfer {
 public:
  RecordWriter(const Job& job, const Options& options)
      : job_(job), options_(options), slot_(record_header_bytes + options.record_bytes) {}
  ~RecordWriter() override {  // requests are in progress only after a failure
    for (auto& call : in_flight_) (void)call.release();
  }

  Status begin() {
    PENSTOCK_ASSIGN(const PartPlan plan, plan_parts(job_, options_));
    Status status;
    if (!plan.together || plan.open.size() > 1)
      status = {Code::unsupported, "mpiio: positioning=shared needs one file that all ranks share"};
    int64_t last = -1;
    for (const Piece& piece : job_.pieces) {
      if (piece.selection.count() == 0) continue;
      pieces_.push_back(&piece);
      last = std::max(last, block_of(piece));
      if (status.ok()) status = check_piece(piece);
    }
    PENSTOCK_TRY(agree(job_.comm, status));
    PENSTOCK_TRY(job_.comm->all_reduce_max(std::span(&last, 1)));
    blocks_ = last + 1;
    if (plan.open.empty()) return {};
    part_ = &job_.parts[plan.open.front()];
    PENSTOCK_ASSIGN(file_, OpenFile::open(job_, *part_, options_, true));
    return {};
  }

  Result<bool> progress(double seconds) override {
    const LibraryGate gate;
    const double deadline = now() + seconds;
    while (piece_ < pieces_.size() && failure_.ok()) {
      if (in_flight_.size() == max_in_flight) {
        PENSTOCK_ASSIGN(const bool done, in_flight_.front()->test());
        if (!done) return false;
      }
      write_record(*pieces_[piece_++]);
      if (now() > deadline) break;
    }
    if (file_ && file_->must_not_be_left_pending()) finish_calls(0);
    for (auto& call : in_flight_) {
      PENSTOCK_ASSIGN(const bool done, call->test());
      if (!done) return false;
    }
    return piece_ == pieces_.size() || !failure_.ok();
  }

  Status finish() override {
    const LibraryGate gate;
    if (!file_) return failure_;
    while (piece_ < pieces_.size() && failure_.ok()) write_record(*pieces_[piece_++]);
    finish_calls(0);
    PhaseTimer timer(*job_.phases, Phase::sync);
    fail(file_->close(job_.sync));
    file_ = nullptr;
    touched_ = true;
    int64_t failed = failure_.ok() ? 0 : 1;
    PENSTOCK_TRY(job_.comm->all_reduce_max(std::span(&failed, 1)));
    if (failed == 0 && job_.comm->rank() == 0) fail(find_order());
    return failure_;
  }

  Needs needs() const override { return Needs::gate; }
  Moved moved() const override { return {touched_, 0, {}, order_}; }

 private:
  void fail(const Status& status) {
    if (failure_.ok()) failure_ = status;
  }
  int64_t offset_of(const Piece& piece) const {
    return first_address(piece) - job_.parts[static_cast<size_t>(piece.part)].virtual_base;
  }
  int64_t block_of(const Piece& piece) const { return offset_of(piece) / slot_; }

  Status check_piece(const Piece& piece) const {
    const int64_t bytes = piece.selection.count() * piece.element_bytes;
    if (offset_of(piece) == block_of(piece) * slot_ + record_header_bytes &&
        last_address(piece) - first_address(piece) == bytes && bytes <= options_.record_bytes)
      return {};
    return {Code::unsupported,
            "mpiio: positioning=shared,coordination=independent writes blocks of at most record_bytes, each in a slot "
            "of its "
            "own: it needs format raw and layout=chunks"};
  }

  void write_record(const Piece& piece) {
    finish_calls(options_.synchronism == Synchronism::nonblocking ? max_in_flight - 1 : 0);
    const int64_t bytes = piece.selection.count() * piece.element_bytes;
    const Limits limits{true, !options_.datatype, INT32_MAX, INT64_MAX, INT64_MAX};
    Rounds rounds({&piece}, *part_, limits, false);
    Round round;
    rounds.next(round);
    auto call = std::make_unique<RoundCall>();
    call->put_before(encode({block_of(piece), bytes, slot_, blocks_}));
    fail(call->prepare(std::move(round), 1, Direction::write, *job_.phases, options_.record_bytes - bytes));
    if (!failure_.ok()) return;
    PhaseTimer timer(*job_.phases, Phase::write);
    fail(call->start(file_->possible(cell_of(options_, Direction::write)), file_->get(), 0));
    if (call->started()) in_flight_.push_back(std::move(call));
  }

  void finish_calls(size_t left) {
    PhaseTimer timer(*job_.phases, Phase::write);
    for (; in_flight_.size() > left; in_flight_.pop_front()) fail(in_flight_.front()->finish(*job_.phases));
  }

  Status find_order() {
    PENSTOCK_ASSIGN(Records records, scan_records(*job_.files, part_->path));
    if (records.slot != slot_ || static_cast<int64_t>(records.order.size()) != blocks_)
      return {Code::io, fmt::format("'{}' has {} records after writing {}, though the MPI library reported success",
                                    part_->path, records.order.size(), blocks_)};
    order_ = std::move(records.order);
    return {};
  }

  const Job& job_;
  const Options options_;
  const int64_t slot_;
  int64_t blocks_ = 0;
  const Part* part_ = nullptr;
  std::vector<const Piece*> pieces_;
  size_t piece_ = 0;
  std::unique_ptr<OpenFile> file_;
  std::deque<std::unique_ptr<RoundCall>> in_flight_;
  std::vector<int64_t> order_;
  Status failure_;
  bool touched_ = false;
};

// Every rank reads one record at a time, in any order, and passes it on to the ranks that need it.
class RecordReader : public Transfer {
 public:
  RecordReader(const Job& job, const Options& options) : job_(job), options_(options) {}

  Status begin() {
    PENSTOCK_ASSIGN(plan_, plan_parts(job_, options_));
    if (!plan_.together)
      return {Code::unsupported, "mpiio: positioning=shared needs files that all ranks share, not one for each rank"};
    return plan_.open.empty() ? Status() : open_part(0);
  }

  Result<bool> progress(double) override { return true; }

  Status finish() override {
    const LibraryGate gate;
    for (size_t i = 0; i < plan_.open.size(); ++i) {
      if (i > 0) PENSTOCK_TRY(open_part(i));
      PENSTOCK_TRY(read_part());
      fail(file_->close(false));
      file_ = nullptr;
    }
    return failure_;
  }

  Needs needs() const override { return Needs::gate; }
  Moved moved() const override { return {!plan_.open.empty()}; }

 private:
  void fail(const Status& status) {
    if (failure_.ok()) failure_ = status;
  }

  Status open_part(size_t index) {
    part_ = &job_.parts[plan_.open[index]];
    pieces_ = pieces_of(job_, plan_.open[index]);
    PENSTOCK_TRY(find_slots());
    PENSTOCK_ASSIGN(file_, OpenFile::open(job_, *part_, options_, true));
    return {};
  }

  // Rank 0 reads the location of each block; a record read by the shared pointer does not contain it.
  Status find_slots() {
    const auto message = from_rank_0(job_.comm, [&](Encoder& out) -> Status {
      PENSTOCK_ASSIGN(const auto records, scan_records(*job_.files, part_->path));
      out.value(records.slot);
      out.list(std::span<const int64_t>(records.order));
      return {};
    });
    PENSTOCK_TRY(message.status());
    Decoder in(*message);
    slot_ = in.value<int64_t>();
    const auto order = in.list<int64_t>();
    slot_of_.assign(order.size(), 0);
    for (size_t slot = 0; slot < order.size(); ++slot)
      slot_of_[static_cast<size_t>(order[slot])] = static_cast<int64_t>(slot);
    return {};
  }

  // As many reads as there are records, so that the pointer never reaches the end.
  Status read_part() {
    const auto records = static_cast<int64_t>(slot_of_.size());
    std::vector<std::byte> buffer(static_cast<size_t>(slot_));
    for (int64_t done = 0; done < records; done += job_.comm->size()) {
      int64_t block = -1;
      if (done + job_.comm->rank() < records && failure_.ok()) {
        const auto read = read_record(buffer);
        fail(read.status());
        if (read.ok()) block = *read;
      }
      PENSTOCK_TRY(hand_on(block, buffer));
    }
    return {};
  }

  Result<int64_t> read_record(std::vector<std::byte>& buffer) {
    PhaseTimer timer(*job_.phases, Phase::read);
    RoundCall call;
    PENSTOCK_TRY(call.prepare_read(buffer));
    PENSTOCK_TRY(call.start(file_->possible(cell_of(options_, Direction::read)), file_->get(), 0));
    PENSTOCK_TRY(call.finish(*job_.phases));
    const auto header = decode_record(buffer);
    if (!header || header->block >= static_cast<int64_t>(slot_of_.size()))
      return Status(Code::damaged, fmt::format("'{}': the shared pointer read no record", part_->path));
    return header->block;
  }

  Status hand_on(int64_t block, const std::vector<std::byte>& buffer) {
    std::vector<int64_t> blocks(static_cast<size_t>(job_.comm->size()));
    PENSTOCK_TRY(mpi_status(MPI_Allgather(&block, 1, MPI_INT64_T, blocks.data(), 1, MPI_INT64_T, native(*job_.comm)),
                            "MPI_Allgather"));
    std::vector<Holding> holdings;
    for (int r = 0; r < job_.comm->size(); ++r) {
      const int64_t held = blocks[static_cast<size_t>(r)];
      if (held < 0) continue;
      const int64_t begin = part_->virtual_base + slot_of_[static_cast<size_t>(held)] * slot_ + record_header_bytes;
      holdings.push_back({r, begin, begin + slot_ - record_header_bytes});
    }
    fail(deliver(
        job_, pieces_, holdings,
        block < 0 ? std::span<const std::byte>() : std::span<const std::byte>(buffer).subspan(record_header_bytes)));
    return {};
  }

  const Job& job_;
  const Options options_;
  PartPlan plan_;
  const Part* part_ = nullptr;
  std::vector<const Piece*> pieces_;
  int64_t slot_ = 0;
  std::vector<int64_t> slot_of_;  // of each block
  std::unique_ptr<OpenFile> file_;
  Status failure_;
};

}  // namespace

Result<std::unique_ptr<Transfer>> begin_records(const Job& job, const Options& options) {
  return job.direction == Direction::write ? begun<RecordWriter>(job, options) : begun<RecordReader>(job, options);
}

}  // namespace penstock::mpiio
