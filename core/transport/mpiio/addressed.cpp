// Addressed: accesses at file positions that each rank knows: by explicit offsets, or by its own pointer in its own
// view.
#include <algorithm>
#include <deque>

#include "core/base/library_gate.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/transport/mpiio/call.hpp"
#include "core/transport/mpiio/transfers.hpp"
#include "core/transport/mpiio/verify.hpp"

namespace penstock::mpiio {
namespace {

// The pieces of one part whose elements are converted in units of one size, and their number of rounds.
struct Task {
  size_t part = 0;
  int64_t unit = 1;
  std::vector<const Piece*> pieces;
  int64_t rounds = 0;
};

class AddressedTransfer : public Transfer {
 public:
  AddressedTransfer(const Job& job, const Options& options)
      : job_(job), options_(options), cell_(cell_of(options, job.direction)), pieces_(job.pieces) {}

  ~AddressedTransfer() override {  // requests are in progress only after a failure
    for (auto& call : in_flight_) (void)call.release();
  }

  Status begin() {
    PENSTOCK_ASSIGN(plan_, plan_parts(job_, options_));
    lockstep_ = plan_.together && (options_.collective || options_.viewed());
    PENSTOCK_TRY(make_tasks());
    if (tasks_.empty()) return {};
    PENSTOCK_TRY(open_part());
    // The others are here too: a collective call that progress could not start can be started now.
    if (options_.synchronism == Synchronism::nonblocking && !file_->must_not_be_left_pending()) fail(start_round());
    return {};
  }

  Result<bool> progress(double seconds) override {
    const LibraryGate gate;
    const bool settle = file_ && file_->must_not_be_left_pending();
    if (settle && cell_.collective) return true;
    const double deadline = now() + seconds;
    while (task_ < tasks_.size() && next_is_local()) {
      PENSTOCK_ASSIGN(const bool room, make_room());
      if (!room) return false;
      fail(advance());
      if (now() > deadline) break;
    }
    if (settle) finish_calls(0);
    PENSTOCK_ASSIGN(const bool idle, test_all());
    return idle && (task_ == tasks_.size() || !next_is_local());
  }

  Status finish() override {
    const LibraryGate gate;
    while (task_ < tasks_.size()) fail(advance());
    return failure_;
  }

  Needs needs() const override { return Needs::gate; }
  Moved moved() const override { return {touched_}; }

 private:
  void fail(const Status& status) {
    if (failure_.ok()) failure_ = status;
  }

  Limits limits() const {
    Limits limits;
    limits.contiguous = limits.stage_scattered = !options_.datatype;
    limits.one_piece = options_.apart;
    limits.runs = options_.round_runs;
    limits.bytes = options_.round_bytes;
    limits.staged = std::min(options_.buffer_bytes, options_.round_bytes);
    return limits;
  }

  Rounds rounds_of(const Task& task) const {
    const bool ordered = job_.direction == Direction::write && !job_.disjoint;
    return {task.pieces, job_.parts[task.part], limits(), ordered};
  }

  // With datarep=external32 MPI swaps the bytes, and every element size is a task, since all ranks must use the same
  // etype at a time.
  Status make_tasks() {
    std::vector<int64_t> units{1};
    if (options_.portable()) units = {1, 2, 4, 8};
    for (const size_t part : plan_.open)
      for (const int64_t unit : units) tasks_.push_back({part, unit, {}, 0});
    for (Piece& piece : pieces_) {
      const int64_t unit = options_.portable() && piece.swap_bytes > 1 ? piece.swap_bytes : 1;
      if (options_.portable()) piece.swap_bytes = 0;
      for (Task& task : tasks_)
        if (task.part == static_cast<size_t>(piece.part) && task.unit == unit) task.pieces.push_back(&piece);
    }
    std::vector<int64_t> rounds;
    for (Task& task : tasks_) rounds.push_back(count_rounds(rounds_of(task)));
    if (lockstep_) PENSTOCK_TRY(job_.comm->all_reduce_max(rounds));
    for (size_t i = 0; i < tasks_.size(); ++i) tasks_[i].rounds = rounds[i];
    // A rank without rounds still opens and closes with the others.
    if (lockstep_ || !plan_.together) std::erase_if(tasks_, [](const Task& task) { return task.rounds == 0; });
    return {};
  }

  bool rounds_left() const { return round_ < tasks_[task_].rounds; }
  bool last_of_part() const { return task_ + 1 == tasks_.size() || tasks_[task_ + 1].part != tasks_[task_].part; }

  // Whether advance() needs no other ranks.
  bool next_is_local() const {
    if (!plan_.together) return true;
    if (!rounds_left() || (!failure_.ok() && !lockstep_)) return false;  // closing is collective
    return !lockstep_ || (options_.synchronism == Synchronism::nonblocking && !options_.viewed());
  }

  Status advance() {
    if (rounds_left() && (failure_.ok() || lockstep_)) return start_round();
    return end_task();
  }

  Status open_part() {
    touched_ = true;
    PENSTOCK_ASSIGN(file_, OpenFile::open(job_, job_.parts[tasks_[task_].part], options_, plan_.together));
    return begin_task();
  }

  Status begin_task() {
    round_ = 0;
    cutter_ = std::make_unique<Rounds>(rounds_of(tasks_[task_]));
    cell_ = cell_of(options_, job_.direction);
    if (job_.direction == Direction::write || !plan_.together || !cell_.collective ||
        cell_.synchronism == Synchronism::nonblocking || !file_->reads_overlaps_wrongly())
      return {};
    PENSTOCK_ASSIGN(const bool overlap, may_overlap(tasks_[task_]));
    if (overlap) read_alone();
    return {};
  }

  // Collective. Whether the file ranges of the ranks, including the gaps in them, overlap.
  Result<bool> may_overlap(const Task& task) const {
    int64_t mine[] = {INT64_MAX, INT64_MIN};
    for (const Piece* piece : task.pieces) {
      if (piece->selection.count() == 0) continue;
      mine[0] = std::min(mine[0], first_address(*piece));
      mine[1] = std::max(mine[1], last_address(*piece));
    }
    std::vector<std::pair<int64_t, int64_t>> all(static_cast<size_t>(job_.comm->size()));
    static_assert(sizeof all[0] == sizeof mine);
    PENSTOCK_TRY(mpi_status(MPI_Allgather(mine, 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, native(*job_.comm)),
                            "MPI_Allgather"));
    std::erase_if(all, [](const auto& range) { return range.first > range.second; });
    std::sort(all.begin(), all.end());
    for (size_t i = 1; i < all.size(); ++i)
      if (all[i].first < all[i - 1].second) return true;
    return false;
  }

  void read_alone() {
    cell_.collective = false;
    cell_.synchronism = Synchronism::blocking;
    if (job_.hints_outcome == nullptr || warned_) return;
    warned_ = true;
    job_.hints_outcome->warnings.emplace_back(
        "read by independent calls: collective ones of OMPIO may give wrong bytes where ranks read overlapping ranges; "
        "see docs/known-faults.md");
  }

  Status end_task() {
    finish_calls(0);
    Status status;
    const bool close = last_of_part();
    if (close) status = close_part();
    ++task_;
    if (task_ == tasks_.size()) return status;
    const Status begun = close ? open_part() : begin_task();
    if (!begun.ok()) task_ = tasks_.size();  // the same on all ranks if they share the part
    return status.ok() ? begun : status;
  }

  Status close_part() {
    const Part& part = job_.parts[tasks_[task_].part];
    const bool writing = job_.direction == Direction::write;
    PhaseTimer timer(*job_.phases, Phase::sync);
    Status status = file_->close(writing && job_.sync);
    file_ = nullptr;
    if (!writing) return status;
    if (plan_.together) PENSTOCK_TRY(job_.comm->barrier());
    if (!status.ok() || !failure_.ok()) return status;
    return verify_part(job_, part, pieces_of(job_, tasks_[task_].part), options_.verify);
  }

  // A rank without rounds left, or with a failure, takes part without data.
  Status start_round() {
    finish_calls(max_under_way() - 1);
    const Task& task = tasks_[task_];
    ++round_;
    Round round;
    const bool any = cutter_->next(round) && failure_.ok();
    if (!any) round = {};
    const int64_t begin = any ? round.begin() - job_.parts[task.part].virtual_base : 0;
    auto call = std::make_unique<RoundCall>();
    Status status;
    if (options_.viewed()) status = set_view(task, round, begin);
    if (status.ok()) status = call->prepare(std::move(round), task.unit, job_.direction, *job_.phases);
    if (!status.ok()) call = std::make_unique<RoundCall>();
    if (any || cell_.collective) {
      const Status called = access(*call, options_.viewed() ? 0 : begin);
      if (status.ok()) status = called;
    }
    if (call->started()) in_flight_.push_back(std::move(call));
    if (options_.synchronism != Synchronism::nonblocking) finish_calls(0);
    return status;
  }

  Status set_view(const Task& task, const Round& round, int64_t begin) {
    Result<Datatype> type = Datatype::basic(unit_type(task.unit));
    if (!round.empty()) type = file_type(round.stretches, task.unit);
    const MPI_Datatype unit = unit_type(task.unit);
    const Status status = file_->view(begin, unit, type.ok() ? type->get() : unit);
    return type.ok() ? status : type.status();
  }

  Status access(RoundCall& call, int64_t offset) {
    PhaseTimer timer(*job_.phases, job_.direction == Direction::write ? Phase::write : Phase::read);
    if (options_.positioning == Positioning::individual && !options_.viewed())
      fail(mpi_status(MPI_File_seek(file_->get(), offset, MPI_SEEK_SET), "MPI_File_seek"));
    return call.start(file_->possible(cell_), file_->get(), offset);
  }

  // A view must stay until its calls are done. MPICH 4.0 aborts with several collective calls in progress on one file.
  size_t max_under_way() const {
    const bool several = options_.synchronism == Synchronism::nonblocking && !options_.viewed() && !options_.collective;
    return several ? max_in_flight : 1;
  }

  // Waits until at most LEFT calls are in progress.
  void finish_calls(size_t left) {
    while (in_flight_.size() > left) {
      PhaseTimer timer(*job_.phases, job_.direction == Direction::write ? Phase::write : Phase::read);
      fail(in_flight_.front()->finish(*job_.phases));
      in_flight_.pop_front();
    }
  }

  // Whether a call can start without waiting for another.
  Result<bool> make_room() {
    if (in_flight_.empty()) return true;
    if (in_flight_.size() < max_under_way() && rounds_left()) return true;
    PENSTOCK_ASSIGN(const bool done, in_flight_.front()->test());
    if (done) finish_calls(in_flight_.size() - 1);
    return done && (in_flight_.empty() || rounds_left());
  }

  Result<bool> test_all() {
    for (auto& call : in_flight_) {
      PENSTOCK_ASSIGN(const bool done, call->test());
      if (!done) return false;
    }
    return true;
  }

  const Job& job_;
  const Options options_;
  Cell cell_;  // of the current task
  std::vector<Piece> pieces_;
  PartPlan plan_;
  bool lockstep_ = false;  // all ranks make the same rounds
  std::vector<Task> tasks_;
  size_t task_ = 0;
  int64_t round_ = 0;
  std::unique_ptr<Rounds> cutter_;
  std::unique_ptr<OpenFile> file_;
  std::deque<std::unique_ptr<RoundCall>> in_flight_;
  Status failure_;
  bool touched_ = false;
  bool warned_ = false;
};

}  // namespace

Result<std::unique_ptr<Transfer>> begin_addressed(const Job& job, const Options& options) {
  return begun<AddressedTransfer>(job, options);
}

}  // namespace penstock::mpiio
