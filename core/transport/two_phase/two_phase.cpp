// two_phase: writers own aligned file blocks; everybody else sends them what belongs there. Best for many ranks,
// short runs, many datasets. With one writer it is "gather". The algorithm is that of ROMIO's generalised two-phase
// (Thakur, Gropp, Lusk 1999) with domains aligned to blocks, plans exchanged as selections, and writing overlapped
// with the next round's exchange.
#include <sched.h>

#include <algorithm>

#include "core/transport/move.hpp"
#include "core/transport/relay.hpp"
#include "core/transport/two_phase/exchange.hpp"
#include "core/transport/two_phase/mailbox.hpp"
#include "core/transport/two_phase/staging.hpp"

namespace penstock {
namespace {

const Descriptor descriptor{
    "two_phase",
    "ranks send to writers, which own aligned file blocks: for blocks with short rows, many ranks, many datasets",
    {{"writers", Parameter::Type::integer, "0", "0", "ranks that call the file system; 0 chooses"},
     {"io", Parameter::Type::choice, "auto|buffered|direct|mmap", "auto",
      "how the file system is called; auto: direct for large durable writes where the file system can, else buffered"},
     {"buffer_bytes", Parameter::Type::bytes, "4096", "8MiB",
      "what a writer assembles at once; it has two such buffers"},
     max_concurrent_writers},
    ""};

class TwoPhaseTransfer : public Transfer {
 public:
  TwoPhaseTransfer(const Job& job, Io io, const Domains& domains, ExchangePlan plan)
      : job_(job),
        domains_(domains),
        plan_(std::move(plan)),
        rank_(job.comm->rank()),
        rounds_(domains.rounds()),
        staging_(job, domains_, plan_, io),
        mailbox_(job.comm, *job.phases) {}

  // Local. All the memory that the rounds will need, taken before anybody waits for a message of this rank.
  Status reserve() {
    PENSTOCK_TRY(staging_.reserve());
    std::vector<int64_t> largest;
    for (const Client& client : plan_.clients)
      if (client.rank != rank_)
        largest.push_back(largest_message([&](int64_t round) { return bytes_from(client, round); }));
    for (const Route& route : plan_.routes)
      if (route.rank != rank_)
        largest.push_back(largest_message([&](int64_t round) { return bytes_to(route, round); }));
    PENSTOCK_TRY(mailbox_.reserve(largest));
    if (reading() && rounds_ > 0) staging_.read_ahead(0);
    return {};
  }

  Result<bool> progress(double seconds) override {
    const double deadline = now() + seconds;
    while (round_ < rounds_) {
      const int64_t round = round_;
      PENSTOCK_ASSIGN(const bool moved, try_step());
      if (!moved || (round_ > round && now() > deadline)) break;
    }
    if (round_ == rounds_) PENSTOCK_TRY(try_step());
    return round_ == rounds_ && !mailbox_.sending() && !staging_.busy();
  }

  Status finish() override {
    while (round_ < rounds_ || mailbox_.sending()) {
      PENSTOCK_ASSIGN(const bool moved, try_step());
      if (!moved) wait_a_little();
    }
    return staging_.finish();
  }

  bool communicates() const override {
    const auto is_other = [&](const auto& peer) { return peer.rank != rank_; };
    return std::ranges::any_of(plan_.routes, is_other) || std::ranges::any_of(plan_.clients, is_other);
  }
  bool touched_files() const override { return staging_.touched_files(); }

 private:
  bool reading() const { return job_.direction == Direction::read; }
  int tag() const { return static_cast<int>(round_ % 1000); }

  int64_t bytes_from(const Client& client, int64_t round) const {
    const int writer = domains_.writer_of(rank_);
    int64_t bytes = 0;
    for (const Piece& piece : client.pieces)
      bytes += bytes_in(piece, domains_.window_begin(writer, round), domains_.window_end(writer, round));
    return bytes;
  }
  int64_t bytes_to(const Route& route, int64_t round) const {
    int64_t bytes = 0;
    for (const int i : route.pieces)
      bytes += bytes_in(job_.pieces[static_cast<size_t>(i)], domains_.window_begin(route.writer, round),
                        domains_.window_end(route.writer, round));
    return bytes;
  }

  template <typename Bytes>
  int64_t largest_message(Bytes bytes) const {
    int64_t largest = 1;
    for (int64_t round = 0; round < rounds_; ++round) largest = std::max(largest, bytes(round));
    return largest;
  }

  // Messages that failed once are not tried again: others may be waiting for what comes after them.
  Result<bool> try_step() {
    PENSTOCK_TRY(broken_);
    Result<bool> moved = round_ < rounds_ ? step() : mailbox_.collect();
    if (!moved.ok()) broken_ = moved.status();
    return moved;
  }

  // Of the round under way, what can be done without waiting for another rank or for the file system; whether that was
  // anything. Receives are posted before anything is sent, so a rank that waits for its sends never keeps another from its
  // own.
  Result<bool> step() {
    bool moved = false;
    if (!posted_) {
      PENSTOCK_TRY(post_receives());
      posted_ = moved = true;
    }
    if (reading() && !filled_) {  // the window that the helper has read
      if (staging_.busy()) return moved;
      staging_.settle();
      if (round_ + 1 < rounds_) staging_.read_ahead(round_ + 1);
      staging_.place_own(round_);
      filled_ = moved = true;
    }
    PENSTOCK_ASSIGN(const bool sent, send_next());
    moved = moved || sent;
    if (!reading() && !filled_) {
      if (job_.keep && staging_.busy()) return moved;
      staging_.begin(round_);
      staging_.place_own(round_);
      filled_ = moved = true;
    }
    PENSTOCK_ASSIGN(const bool received, take_received());
    moved = moved || received;
    if (next_peer_ < peers() || mailbox_.expecting()) return moved;
    if (!reading()) {
      if (staging_.busy()) return moved;
      staging_.write(round_);
    }
    ++round_;
    next_peer_ = 0;
    posted_ = filled_ = false;
    return true;
  }

  // Without keeping a core busy where only the file system can end it.
  void wait_a_little() {
    const bool for_file = posted_ && (!filled_ || !(mailbox_.expecting() || mailbox_.sending()));
    PhaseTimer timer(*job_.phases, !for_file ? Phase::exchange : reading() ? Phase::read : Phase::write);
    if (for_file) staging_.wait_idle();
    sched_yield();
  }

  // Those that this rank sends to: writing, its writers; reading, its clients.
  size_t peers() const { return reading() ? plan_.clients.size() : plan_.routes.size(); }

  // Sends as far as the mailbox takes it; whether anything was sent.
  Result<bool> send_next() {
    PENSTOCK_TRY(mailbox_.collect());
    bool moved = false;
    for (; next_peer_ < peers(); ++next_peer_) {
      PENSTOCK_ASSIGN(const bool sent, reading() ? send_to(plan_.clients[next_peer_])
                                                 : send_to(plan_.routes[(next_peer_ + start_route()) % peers()]));
      if (!sent) break;
      moved = true;
    }
    return moved;
  }

  Result<bool> send_to(const Client& client) {
    const int64_t bytes = client.rank == rank_ ? 0 : bytes_from(client, round_);
    if (bytes == 0) return true;
    return mailbox_.send(client.rank, tag(), bytes, [&](std::byte* to) { staging_.place(client, round_, to); });
  }

  Result<bool> send_to(const Route& route) {
    const int64_t bytes = route.rank == rank_ ? 0 : bytes_to(route, round_);
    if (bytes == 0) return true;
    return mailbox_.send(route.rank, tag(), bytes, [&](std::byte* to) { pack(route, to); });
  }

  // Sources begin with different writers, so that a writer does not get everybody's messages at once.
  size_t start_route() const {
    return static_cast<size_t>(rank_) * plan_.routes.size() / static_cast<size_t>(job_.comm->size());
  }

  Status post_receives() {
    const auto post = [&](int peer, size_t index, int64_t bytes) -> Status {
      return bytes == 0 || peer == rank_ ? Status() : mailbox_.expect(peer, tag(), bytes, index);
    };
    if (reading()) {
      for (size_t i = 0; i < plan_.routes.size(); ++i)
        PENSTOCK_TRY(post(plan_.routes[i].rank, i, bytes_to(plan_.routes[i], round_)));
    } else {
      for (size_t i = 0; i < plan_.clients.size(); ++i)
        PENSTOCK_TRY(post(plan_.clients[i].rank, i, bytes_from(plan_.clients[i], round_)));
    }
    return {};
  }

  Result<bool> take_received() {
    return mailbox_.take([&](size_t index, std::byte* from) {
      if (reading())
        pack(plan_.routes[index], from);
      else
        staging_.place(plan_.clients[index], round_, from);
    });
  }

  // Between this rank's memory and a packed message: writing packs, reading unpacks.
  void pack(const Route& route, std::byte* flat) {
    PhaseTimer timer(*job_.phases, Phase::pack);
    for (const int i : route.pieces) {
      const Piece& piece = job_.pieces[static_cast<size_t>(i)];
      SliceCursor cursor(piece, domains_.window_begin(route.writer, round_), domains_.window_end(route.writer, round_));
      for (Slice slice; cursor.next(slice); flat += slice.bytes) copy_slice(piece, slice, flat, job_.direction);
    }
  }

  const Job& job_;
  const Domains domains_;
  const ExchangePlan plan_;
  const int rank_;
  const int64_t rounds_;
  int64_t round_ = 0;  // under way, and how far:
  bool posted_ = false, filled_ = false;
  size_t next_peer_ = 0;
  Status broken_;  // of messages; those of the file system are staging's
  Staging staging_;
  Mailbox mailbox_;
};

class TwoPhase : public Transport {
 public:
  const Descriptor& describe() const override { return descriptor; }

  Result<std::unique_ptr<Transfer>> begin(const Job& job, const Settings& settings) const override {
    // Only what somebody moves is cut into domains, so that reading one dataset of many occupies all writers.
    int64_t bounds[2] = {INT64_MIN, INT64_MIN};  // -begin, end
    for (const Piece& piece : job.pieces) {
      if (piece.selection.count() == 0) continue;
      bounds[0] = std::max(bounds[0], -first_address(piece));
      bounds[1] = std::max(bounds[1], last_address(piece));
    }
    PhaseTimer timer(*job.phases, Phase::exchange);
    PENSTOCK_TRY(job.comm->all_reduce_max(bounds));
    if (bounds[1] == INT64_MIN) bounds[0] = bounds[1] = 0;
    const auto cut = [&](int64_t writers) {
      return cut_domains(-bounds[0], bounds[1], job.block, settings.integer("buffer_bytes"),
                         static_cast<int>(std::min<int64_t>(writers, INT32_MAX)), job.comm->size());
    };
    Domains domains = cut(settings.integer("writers"));
    const int64_t most = settings.integer("max_concurrent_writers");
    if (most > 0 && domains.writers > most) domains = cut(most);
    PENSTOCK_ASSIGN(ExchangePlan plan, plan_exchange(job, domains));
    auto transfer = std::make_unique<TwoPhaseTransfer>(job, parse_io(settings.word("io")), domains, std::move(plan));
    PENSTOCK_TRY(transfer->reserve());
    return std::unique_ptr<Transfer>(std::move(transfer));
  }
};

}  // namespace

const Transport& two_phase_transport() {
  static const TwoPhase transport;
  return transport;
}

}  // namespace penstock
