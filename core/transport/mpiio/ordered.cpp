// Ordered: the shared file pointer, moved by all ranks in rank order.
//
// The routines write the ranks' data one after another, without gaps. So a round consists of those next runs whose
// addresses ascend with the rank number; the pointer is set before each round. When reading, every rank gets a slab of
// equal size and passes on the data that others need.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/library_gate.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/transport/mpiio/call.hpp"
#include "core/transport/mpiio/deliver.hpp"
#include "core/transport/mpiio/transfers.hpp"
#include "core/transport/mpiio/verify.hpp"

namespace penstock::mpiio {
namespace {

// The ranks in reverse order, so that a prefix covers all higher ranks.
class Reversed {
 public:
  Reversed() = default;
  ~Reversed() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  Reversed(const Reversed&) = delete;
  Reversed& operator=(const Reversed&) = delete;
  // Collective.
  Status start(const Job& job) {
    PENSTOCK_TRY(mpi_status(MPI_Comm_split(native(*job.comm), 0, -job.comm->rank(), &comm_), "MPI_Comm_split"));
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    return {};
  }
  // Collective. The smallest VALUE of all higher ranks; INT64_MAX on the last.
  Result<int64_t> next_above(int64_t value) const {
    int64_t least = INT64_MAX;
    PENSTOCK_TRY(mpi_status(MPI_Exscan(&value, &least, 1, MPI_INT64_T, MPI_MIN, comm_), "MPI_Exscan"));
    return rank_ == 0 ? INT64_MAX : least;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
};

// All calls are collective and wait for the others, so progress() does nothing.
class OrderedTransfer : public Transfer {
 public:
  OrderedTransfer(const Job& job, const Options& options)
      : job_(job), options_(options), cell_(cell_of(options, job.direction)) {}

  Status begin() {
    PENSTOCK_ASSIGN(plan_, plan_parts(job_, options_));
    if (!plan_.together)
      return {Code::unsupported, "mpiio: positioning=shared needs files that all ranks share, not one for each rank"};
    PENSTOCK_TRY(reversed_.start(job_));
    return plan_.open.empty() ? Status() : open_part(0);
  }

  Result<bool> progress(double) override { return true; }

  Status finish() override {
    const LibraryGate gate;
    for (size_t i = 0; i < plan_.open.size(); ++i) {
      if (i > 0) PENSTOCK_TRY(open_part(i));
      PENSTOCK_TRY(job_.direction == Direction::write ? write_part() : read_part());
      PENSTOCK_TRY(close_part());
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
    PENSTOCK_ASSIGN(file_, OpenFile::open(job_, *part_, options_, true));
    return {};
  }

  Status close_part() {
    const bool writing = job_.direction == Direction::write;
    PhaseTimer timer(*job_.phases, Phase::sync);
    fail(file_->close(writing && job_.sync));
    file_ = nullptr;
    PENSTOCK_TRY(job_.comm->barrier());
    if (writing && failure_.ok()) fail(verify_part(job_, *part_, pieces_, options_.verify));
    return {};
  }

  Limits limits() const {
    Limits limits;
    limits.contiguous = true;
    limits.stage_scattered = !options_.datatype;
    limits.runs = options_.round_runs;
    limits.bytes = options_.round_bytes;
    limits.staged = std::min(options_.buffer_bytes, options_.round_bytes);
    return limits;
  }

  // Collective. Only failed communication ends it early; after other failures a rank continues without data.
  Status write_part() {
    Rounds rounds(pieces_, *part_, limits(), false);
    Round mine, following;
    if (!rounds.next(mine)) mine = {};
    if (!rounds.next(following)) following = {};
    while (true) {
      // NOLINTNEXTLINE(bugprone-use-after-move): who took part moved it, and got the next
      PENSTOCK_ASSIGN(const Turn turn, next_turn(mine, following));
      if (turn.done) return {};
      PENSTOCK_TRY(call(turn.begin, turn.takes_part ? std::move(mine) : Round(), turn.padding));
      if (!turn.takes_part) continue;
      mine = std::move(following);
      if (!rounds.next(following)) following = {};
    }
  }

  struct Turn {
    bool done = false;
    int64_t begin = 0;  // start of the round
    bool takes_part = false;
    int64_t padding = 0;  // bytes between this rank's run and the next rank's run in the round
  };

  // Collective. The longest prefix of the ranks' remaining runs, by address, that ascends with the rank number.
  Result<Turn> next_turn(const Round& mine, const Round& following) {
    constexpr int64_t never = INT64_MAX;
    const bool any = !mine.empty() && failure_.ok();
    const int64_t begin = any ? mine.begin() : never;
    PENSTOCK_ASSIGN(const int64_t above, reversed_.next_above(begin));
    int64_t limit = never;  // runs from here on cannot be in this round
    bool overlap = false;
    if (any) {
      limit = following.empty() ? never : following.begin();
      overlap = limit < mine.end() || (above >= begin && above < mine.end());
      if (above < begin) {
        limit = begin;
      } else if (above != never) {
        const int64_t gap = above - mine.end();
        if (gap > max_padding || (gap > 0 && job_.keep)) limit = std::min(limit, above);
      }
    }
    int64_t least[] = {begin, limit, overlap ? 0 : 1};
    PENSTOCK_TRY(job_.comm->all_reduce_min(least));
    if (least[2] == 0)
      fail({Code::unsupported, "mpiio: positioning=shared cannot write blocks that overlap in the file"});
    Turn turn;
    turn.done = least[0] == never || least[2] == 0;
    turn.begin = least[0];
    turn.takes_part = any && begin < least[1];
    if (turn.takes_part && above < least[1]) turn.padding = above - mine.end();
    return turn;
  }

  // Collective.
  Status call(int64_t begin, Round round, int64_t padding) {
    PENSTOCK_TRY(seek(begin));
    RoundCall call;
    const Status prepared = call.prepare(std::move(round), 1, job_.direction, *job_.phases, padding);
    fail(prepared);
    RoundCall nothing;
    access(prepared.ok() ? call : nothing);
    return {};
  }

  Status seek(int64_t begin) {
    return mpi_status(MPI_File_seek_shared(file_->get(), begin - part_->virtual_base, MPI_SEEK_SET),
                      "MPI_File_seek_shared");
  }

  void access(RoundCall& call) {
    PhaseTimer timer(*job_.phases, job_.direction == Direction::write ? Phase::write : Phase::read);
    fail(call.start(file_->possible(cell_), file_->get(), 0));
    if (call.started()) fail(call.finish(*job_.phases));
  }

  // Collective.
  Status read_part() {
    int64_t bounds[] = {INT64_MIN, INT64_MIN};
    for (const Piece* piece : pieces_) {
      bounds[0] = std::max(bounds[0], -first_address(*piece));
      bounds[1] = std::max(bounds[1], last_address(*piece));
    }
    PENSTOCK_TRY(job_.comm->all_reduce_max(bounds));
    const int64_t begin = -bounds[0], end = bounds[1];
    const int64_t slab = holding_bytes(job_, options_.buffer_bytes);
    PENSTOCK_TRY(seek(begin));
    std::vector<std::byte> buffer(static_cast<size_t>(slab));
    for (int64_t at = begin; at < end; at += slab * job_.comm->size()) PENSTOCK_TRY(read_round(at, end, slab, buffer));
    return {};
  }

  Status read_round(int64_t begin, int64_t end, int64_t slab, std::vector<std::byte>& buffer) {
    std::vector<Holding> holdings;
    for (int r = 0; r < job_.comm->size(); ++r) {
      const int64_t from = std::min(begin + r * slab, end);
      if (from < end) holdings.push_back({r, from, std::min(from + slab, end)});
    }
    const int rank = job_.comm->rank();
    const bool any = static_cast<size_t>(rank) < holdings.size();
    const Holding mine = any ? holdings[static_cast<size_t>(rank)] : Holding{rank, 0, 0};
    const auto bytes = std::span(buffer).first(static_cast<size_t>(mine.end - mine.begin));
    RoundCall call;
    if (any) fail(call.prepare_read(bytes));
    access(call);
    fail(deliver(job_, pieces_, holdings, failure_.ok() ? bytes : std::span<std::byte>()));
    return {};
  }

  const Job& job_;
  const Options options_;
  const Cell cell_;
  PartPlan plan_;
  Reversed reversed_;
  const Part* part_ = nullptr;
  std::vector<const Piece*> pieces_;
  std::unique_ptr<OpenFile> file_;
  Status failure_;
};

}  // namespace

Result<std::unique_ptr<Transfer>> begin_ordered(const Job& job, const Options& options) {
  return begun<OrderedTransfer>(job, options);
}

}  // namespace penstock::mpiio
