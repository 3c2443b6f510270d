// two_phase: writers own aligned file blocks; all other ranks send them their data. Best for many ranks, short runs and
// many datasets. With one writer it is "gather". The algorithm is ROMIO's generalised two-phase method (Thakur, Gropp,
// Lusk 1999) with block-aligned domains, plans exchanged as selections, and writing overlapped with the next round's
// exchange.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "core/comm/cores.hpp"
#include "core/comm/patience.hpp"
#include "core/transport/move.hpp"
#include "core/transport/relay.hpp"
#include "core/transport/two_phase/agreement.hpp"
#include "core/transport/two_phase/carrier.hpp"
#include "core/transport/two_phase/exchange.hpp"
#include "core/transport/two_phase/mailbox.hpp"
#include "core/transport/two_phase/neighbours.hpp"
#include "core/transport/two_phase/staging.hpp"

namespace penstock {
namespace {

const Descriptor descriptor{
    "two_phase",
    "ranks send to writers, which own aligned file blocks: for blocks with short rows, many ranks, many datasets",
    {{"writers", Parameter::Type::integer, "0", "0", "ranks that call the file system; 0 chooses"},
     {"io", Parameter::Type::choice, "auto|buffered|direct|mmap", "auto",
      "how the file system is called; auto: direct for large durable writes, and for reading what is not in memory, "
      "where the file system can; else buffered"},
     queue_depth,
     {"buffer_bytes", Parameter::Type::bytes, "0", "0",
      "what a writer assembles at once, in each of two buffers; 0: 3 MiB with durability=none on one node, else 8 MiB"},
     {"neighbours", Parameter::Type::choice, "shared|messages", "shared",
      "how ranks reach a writer of their own node: its windows lie in memory that they share, or by messages"},
     {"domains", Parameter::Type::choice, "nodes|ranges", "nodes",
      "what a writer has of the file; nodes: what the ranks of its node have, if each node has a box of the large "
      "datasets; ranges: one range"},
     max_concurrent_writers},
    ""};

class TwoPhaseTransfer : public Transfer {
 public:
  TwoPhaseTransfer(const Job& job, const Settings& settings, Agreed agreed)
      : job_(job),
        domains_(std::move(agreed.domains)),
        plan_(std::move(agreed.plan)),
        rank_(job.comm->rank()),
        writer_(domains_.writer_of(rank_)),
        rounds_(domains_.rounds()),
        nap_(outnumber_cores(job.comm) ? 500e-6 : 50e-6),
        kept_(job.comm->attachments().get<NodeMemory>()),
        neighbours_(std::move(agreed.neighbours)),
        staging_(job, domains_, plan_, io_mode(job, settings), [this] { wake(); }),
        budget_(share_of_memory(settings)),
        mailbox_(job.comm, *job.phases, budget_),
        carrier_(job, domains_, plan_.parcels, neighbours_.couriers(), [this](int rank) { neighbours_.ring(rank); }) {}

  // A rank that abandons a transfer in progress leaves the node's memory to ranks that may still use it, and tells
  // them.
  ~TwoPhaseTransfer() override {
    if (finished_) return;
    if (communicates()) job_.comm->poison();
    if (!neighbours_.any()) return;
    kept_.in_doubt = true;
    neighbours_.fail();
  }

  // Local.
  Status prepare(bool share) {
    if (share && !neighbours_.any() && kept_.ranks.size() > 1 && job_.hints_outcome != nullptr)
      job_.hints_outcome->warnings.emplace_back(
          "the ranks of this node can share no memory: its data goes in messages");
    const bool couriers = !neighbours_.couriers().all().empty();
    for (const Route& route : plan_.routes) {
      if (neighbours_.reaches(route.rank)) near_.push_back({&route, 0});
      if (couriers && needs_message(route.rank))
        for (int64_t round = 0; round < rounds_; ++round) errands_ += bytes_to(route, round) > 0;
    }
    std::map<int, Parcel> far;
    for (const Client& client : plan_.clients) {
      if (neighbours_.reaches(client.rank)) near_clients_.push_back(client.rank);
      if (needs_message(client.rank))
        far.try_emplace(client.carrier, Parcel{writer_, client.carrier, {}}).first->second.clients.push_back(client);
    }
    for (auto& [carrier, parcel] : far) far_.push_back(std::move(parcel));
    return reserve();
  }

  // Local.
  void start() {
    if (reading() && rounds_ > 0) staging_.read_ahead(0);
  }

  Result<bool> progress(double seconds) override {
    const double deadline = now() + seconds;
    while (!done()) {
      const int64_t round = round_;
      PENSTOCK_ASSIGN(const bool moved, try_step());
      if (!moved || ((round_ > round || round_ == rounds_) && now() > deadline)) break;
    }
    return done() && !staging_.busy();
  }

  Status finish() override {
    Patience patience;
    for (int idle = 0; !done(); ++idle) {
      const uint32_t bell = neighbours_.any() ? neighbours_.bell() : 0;
      PENSTOCK_ASSIGN(const bool moved, try_step());
      if (moved) {
        idle = 0;
        patience.moved();
      } else {
        wait_a_little(bell, idle);
        PENSTOCK_TRY(patient(patience, "data of other ranks"));
      }
    }
    const Status status = staging_.finish();
    finished_ = true;
    if (!neighbours_.any()) return status;
    const Status left = wait_for_writers();
    return status.ok() ? left : status;
  }

  void abandon() override {
    abandoned_ = true;
    if (neighbours_.any()) neighbours_.fail();
  }

  // A rank whose node sends messages waits for those that send them, which may do so only while their program calls.
  Needs needs() const override { return communicates() || plan_.leaves_node ? Needs::messages : Needs::nothing; }
  Moved moved() const override {
    return {staging_.touched_files(), plan_.bytes + staging_.bytes() + mailbox_.bytes() + carrier_.bytes()};
  }

 private:
  bool communicates() const { return !far_.empty() || carrier_.any(); }

  // A writer of this node, and the next round in which this rank exchanges data with it.
  struct Near {
    const Route* route;
    int64_t round;
  };

  bool reading() const { return job_.direction == Direction::read; }
  int tag() const { return static_cast<int>(round_ % round_tags); }
  bool needs_message(int rank) const { return rank != rank_ && !neighbours_.reaches(rank); }
  bool done() const {
    const auto has_done = [&](const Near& near) { return near.round == rounds_; };
    return round_ == rounds_ && !mailbox_.sending() && carrier_.done() && errands_ == 0 &&
           std::ranges::all_of(near_, has_done);
  }
  void wake() {
    if (neighbours_.any()) neighbours_.ring(rank_);
  }

  Load load_of(const Parcel& parcel, int64_t round) const {
    return penstock::load_of(parcel, domains_.window_of(writer_, round));
  }
  int64_t bytes_to(const Route& route, int64_t round) const {
    return route.pieces.bytes_in(domains_.window_of(route.writer, round));
  }

  // Local. Allocates all memory for the rounds before other ranks wait for this one.
  Status reserve() {
    PENSTOCK_TRY(staging_.reserve(neighbours_.any() && writer_ >= 0 ? neighbours_.window(0) : nullptr));
    PENSTOCK_TRY(carrier_.reserve(budget_));
    std::vector<int64_t> largest;
    for (const Parcel& parcel : far_) {
      largest.push_back(1);
      for (int64_t round = 0; round < rounds_; ++round)
        largest.back() = std::max(largest.back(), load_of(parcel, round).bytes);
    }
    return mailbox_.reserve(largest);
  }

  // Failed messages are not retried: others may be waiting for the messages after them.
  Result<bool> try_step() {
    if (broken_.ok() && neighbours_.any() && neighbours_.failed())
      broken_ = Status(Code::elsewhere, "messages of another rank of this node failed");
    if (broken_.ok() && abandoned_) broken_ = Status(Code::elsewhere, "the movement was given up");
    PENSTOCK_TRY(broken_);
    Result<bool> moved = step();
    if (!moved.ok()) give_up(moved.status());
    return moved;
  }

  // Does everything possible without waiting for another rank or the file system; returns whether there was anything.
  Result<bool> step() {
    bool moved = serve_neighbours();
    moved = run_errands() || moved;
    PENSTOCK_ASSIGN(const bool carried, carrier_.step());
    PENSTOCK_ASSIGN(const bool more, round_ < rounds_ ? advance() : mailbox_.collect());
    return moved || carried || more;
  }

  // Copies between this rank's memory and the parcels of its node's couriers.
  bool run_errands() {
    bool moved = false;
    for (; errands_ > 0; --errands_) {
      const auto asked = neighbours_.couriers().next();
      if (!asked) break;
      PhaseTimer timer(*job_.phases, Phase::pack);
      const auto route = std::ranges::lower_bound(plan_.routes, asked->errand.writer, {}, &Route::writer);
      const Window window = domains_.window_of(route->writer, asked->errand.round);
      copy_load(route->pieces, window, asked->data, asked->errand.image != 0, job_.direction);
      neighbours_.couriers().done(*asked);
      neighbours_.ring(asked->courier);
      moved = true;
    }
    return moved;
  }

  // Copies between this rank's memory and the open windows on this node.
  bool serve_neighbours() {
    bool moved = false;
    for (Near& near : near_) {
      for (; near.round < rounds_; ++near.round) {
        const Window window = domains_.window_of(near.route->writer, near.round);
        if (near.route->pieces.bytes_in(window) == 0) continue;
        std::byte* open = neighbours_.opened(near.route->rank, near.round);
        if (open == nullptr) break;
        PhaseTimer timer(*job_.phases, Phase::pack);
        copy_load(near.route->pieces, window, open, true, job_.direction);
        neighbours_.done(near.route->rank, near.round);
        moved = true;
      }
    }
    return moved;
  }

  // This rank's own round, as a writer. Receives are posted before any send, so that a rank that waits for its sends
  // never blocks another.
  Result<bool> advance() {
    bool moved = false;
    if (!reading()) {
      PENSTOCK_ASSIGN(moved, post_receives());
    }
    moved = (reading() ? fill() : open()) || moved;
    if (opened_ <= round_) return moved;
    PENSTOCK_ASSIGN(const bool exchanged, reading() ? send_next() : take_received());
    moved = moved || exchanged;
    if (next_far_ < far_.size() || mailbox_.expecting()) return moved;
    if (!near_clients_.empty() && neighbours_.done_with(round_) < near_in_[round_ % 2]) return moved;
    if (!reading()) {
      if (staging_.busy()) return moved;
      staging_.write(round_);
    }
    ++round_;
    next_far_ = 0;
    return true;
  }

  // Reading: the window that the helper has read becomes available to all.
  bool fill() {
    if (opened_ > round_ || staging_.busy()) return false;
    staging_.settle();
    if (round_ + 1 < rounds_) staging_.read_ahead(round_ + 1);
    staging_.place_own(round_);
    show(round_);
    return true;
  }

  // Writing: opens windows as soon as they are free; the next one while this round's window still fills.
  bool open() {
    bool moved = false;
    while (opened_ < rounds_ && opened_ <= round_ + 1) {
      // Its window is being written; or the files are needed.
      const bool must_rest = opened_ > round_ || staging_.reads_before(opened_);
      if (must_rest && staging_.busy()) break;
      staging_.begin(opened_);
      show(opened_);
      staging_.place_own(opened_ - 1);
      moved = true;
    }
    return moved;
  }

  void show(int64_t round) {
    opened_ = round + 1;
    if (near_clients_.empty()) return;
    near_in_[round % 2] = 0;
    const Window window = domains_.window_of(writer_, round);
    for (const Client& client : plan_.clients)
      if (neighbours_.reaches(client.rank) && client.pieces.bytes_in(window) > 0) ++near_in_[round % 2];
    neighbours_.open(round, near_clients_);
  }

  // Without occupying a core for long: ranks that copy may need it.
  void wait_a_little(uint32_t bell, int idle) {
    constexpr int max_yields = 100;
    constexpr double until_bell = 10e-3;
    const bool messages = mailbox_.expecting() || mailbox_.sending() || carrier_.has_messages();
    const bool for_file = round_ < rounds_ && !messages && staging_.busy();
    PhaseTimer timer(*job_.phases, !for_file ? Phase::exchange : reading() ? Phase::read : Phase::write);
    if (neighbours_.any()) return sleep(bell, messages ? nap_ : until_bell);
    if (for_file) return staging_.wait_idle();
    if (idle < max_yields)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::duration<double>(nap_));
  }

  Status wait_for_writers() {
    PhaseTimer timer(*job_.phases, reading() ? Phase::read : Phase::sync);
    neighbours_.leave();
    Patience patience;
    for (uint32_t bell = neighbours_.bell(); !neighbours_.writers_left() && !neighbours_.failed();
         bell = neighbours_.bell()) {
      sleep(bell, 10e-3);
      PENSTOCK_TRY(patient(patience, "writers of this node to end their files"));
    }
    return {};
  }

  // Gives up, for this rank and its neighbours, if nothing has moved for too long.
  Status patient(Patience& patience, std::string_view what) {
    const Status status = patience.idle(*job_.comm, what);
    if (status.ok() || !broken_.ok()) return status;
    give_up(status);
    kept_.in_doubt = true;
    return status;
  }

  void give_up(const Status& why) {
    broken_ = why;
    job_.comm->poison();
    abandon();
  }

  // Messages sent by this rank may need its calls to arrive.
  void sleep(uint32_t bell, double seconds) {
    if (!communicates()) return neighbours_.sleep(bell, seconds);
    job_.comm->progress();
    neighbours_.sleep(bell, std::min(seconds, 1e-3));
  }

  // Reading: sends as far as the mailbox permits; returns whether anything was sent.
  Result<bool> send_next() {
    PENSTOCK_ASSIGN(bool moved, mailbox_.collect());
    for (; next_far_ < far_.size(); ++next_far_) {
      const Parcel& parcel = far_[next_far_];
      const Load load = waiting_ ? *waiting_ : load_of(parcel, round_);
      waiting_.reset();
      if (load.bytes == 0) continue;
      const auto fill = [&](std::byte* to) { staging_.place(parcel, load, round_, to); };
      PENSTOCK_ASSIGN(const bool sent, mailbox_.send(parcel.peer, tag(), load.bytes, fill));
      if (!sent) {
        waiting_ = load;
        break;
      }
      moved = true;
    }
    return moved;
  }

  // Writing: a writer accepts everything for its window.
  Result<bool> post_receives() {
    bool moved = false;
    for (; next_far_ < far_.size(); ++next_far_) {
      const Load load = load_of(far_[next_far_], round_);
      if (load.bytes == 0) continue;
      PENSTOCK_TRY(mailbox_.expect(far_[next_far_].peer, tag(), load.bytes, next_far_));
      moved = true;
    }
    return moved;
  }

  Result<bool> take_received() {
    return mailbox_.take([&](size_t number, std::byte* from) {
      staging_.place(far_[number], load_of(far_[number], round_), round_, from);
    });
  }

  const Job& job_;
  const Domains domains_;
  const ExchangePlan plan_;
  const int rank_, writer_;
  const int64_t rounds_;
  // Seconds between two looks for messages. A look takes tens of microseconds of a core: where ranks outnumber
  // cores, a file system's processes would wait milliseconds for a core, and with them the ranks for their files.
  const double nap_;
  NodeMemory& kept_;
  Neighbours neighbours_;
  std::vector<Near> near_;
  std::vector<int> near_clients_;  // as a writer: ranks of this node with data here
  int64_t near_in_[2] = {};        // number of them with data in the window
  std::vector<Parcel> far_;        // as a writer: messages of other nodes
  int64_t errands_ = 0;            // still to come from this node's couriers
  int64_t round_ = 0;              // the current round and its progress:
  int64_t opened_ = 0;             // windows of earlier rounds were filled, or may be
  size_t next_far_ = 0;
  std::optional<Load> waiting_;  // of that message, if others must be sent first
  bool finished_ = false;
  std::atomic<bool> abandoned_ = false;
  Status broken_;  // of messages; staging keeps those of the file system
  Staging staging_;
  const int64_t budget_;
  Mailbox mailbox_;
  Carrier carrier_;
};

class TwoPhase : public Transport {
 public:
  const Descriptor& describe() const override { return descriptor; }

  std::optional<Work> estimate(const Problem& problem, const Settings& settings) const override {
    const std::string_view io = settings.word("io");
    if (io == "mmap") return {};
    Work work;
    work.bytes = problem.bytes * problem.ranks;
    Cut cut = make_cut({0, work.bytes, 0}, settings,
                       std::max<int64_t>(1, problem.ranks / std::max<int64_t>(1, problem.ranks_per_node)));
    cut.block = settings.integer("block");
    cut.ranks = static_cast<int>(problem.ranks);
    const Domains domains = cut_domains(cut);
    work.movers = domains.writers;
    work.calls = domains.writers * domains.rounds();
    const bool near = settings.word("neighbours") == "shared";
    work.sent = near ? work.bytes - work.bytes / cut.nodes : work.bytes - work.bytes / problem.ranks;
    // A rank, or a node with its couriers, has data for each writer in each round.
    const int64_t carriers = near ? std::clamp<int64_t>(problem.ranks_per_node, 1, most_candidates) : 1;
    work.messages = work.sent > 0 ? (work.calls + carriers - 1) / carriers : 0;
    work.copied = work.bytes + 2 * work.sent;  // into windows; messages are packed before, and unpacked
    work.pieces = work.bytes / std::max<int64_t>(1, problem.run_bytes);
    work.collectives = 4;
    const bool large = problem.durable && work.bytes >= min_direct_file;
    work.direct = io == "direct" || (io == "auto" && (problem.write ? large : !problem.in_memory));
    return work;
  }

  // Whoever limits those that call the file system means it.
  bool lets_write_ahead(const Settings& settings) const override {
    return settings.integer("writers") == 0 && settings.integer("max_concurrent_writers") == 0 &&
           settings.word("io") != "mmap";
  }

  Result<std::unique_ptr<Transfer>> begin(const Job& job, const Settings& settings) const override {
    PENSTOCK_ASSIGN(auto transfer, prepare(job, settings));
    transfer->start();
    return std::unique_ptr<Transfer>(std::move(transfer));
  }

 private:
  static Result<std::unique_ptr<TwoPhaseTransfer>> prepare(const Job& job, const Settings& settings) {
    PhaseTimer timer(*job.phases, Phase::exchange);
    NodeMemory& kept = job.comm->attachments().get<NodeMemory>();
    PENSTOCK_TRY(kept.meet(job.comm));
    PlanCache& cache = job.comm->attachments().get<PlanCache>();
    cache.max_bytes = share_of_memory(settings) / 4;
    PENSTOCK_ASSIGN(Agreed agreed, agree_exchange(job, settings, kept, cache));
    const Status planned = agreed.planned;
    auto transfer = std::make_unique<TwoPhaseTransfer>(job, settings, std::move(agreed));
    PENSTOCK_TRY(transfer->prepare(settings.word("neighbours") == "shared"));
    PENSTOCK_TRY(planned);
    return transfer;
  }
};

}  // namespace

const Transport& two_phase_transport() {
  static const TwoPhase transport;
  return transport;
}

}  // namespace penstock
