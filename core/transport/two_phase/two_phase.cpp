// two_phase: writers own aligned file blocks; everybody else sends them what belongs there. Best for many ranks,
// short runs, many datasets. With one writer it is "gather". The algorithm is that of ROMIO's generalised two-phase
// (Thakur, Gropp, Lusk 1999) with domains aligned to blocks, plans exchanged as selections, and writing overlapped
// with the next round's exchange.
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>

#include <fmt/format.h>

#include "core/transport/move.hpp"
#include "core/transport/open_parts.hpp"
#include "core/transport/relay.hpp"
#include "core/transport/two_phase/background.hpp"
#include "core/transport/two_phase/buffers.hpp"
#include "core/transport/two_phase/exchange.hpp"

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

constexpr int64_t send_budget = 64 << 20;  // bytes of packed messages under way, beyond the first

// A range of one part inside a window, in virtual addresses.
struct Range {
  const Part* part = nullptr;
  int64_t begin = 0, end = 0;
  int64_t bytes = 0;  // of pieces inside
};

class TwoPhaseTransfer : public Transfer {
 public:
  TwoPhaseTransfer(const Job& job, const Settings& settings, const Domains& domains, ExchangePlan plan)
      : job_(job),
        domains_(domains),
        plan_(std::move(plan)),
        files_(job.storage, parse_io(settings.word("io")), job.direction == Direction::write),
        rank_(job.comm->rank()),
        writer_(domains.writer_of(rank_)),
        rounds_(domains.rounds()),
        background_(job.comm->threads_allowed()) {}

  // Given up between its steps: other ranks may never take what was sent.
  ~TwoPhaseTransfer() override {
    for (Outgoing& out : outgoing_) {
      const auto done = out.request.test();
      if (done.ok() && *done) continue;
      out.request.abandon();
      out.buffer.leak();
    }
  }
  TwoPhaseTransfer(const TwoPhaseTransfer&) = delete;
  TwoPhaseTransfer& operator=(const TwoPhaseTransfer&) = delete;

  // Local. All the memory that the rounds will need, taken before anybody waits for a message of this rank.
  Status reserve() {
    if (!plan_.clients.empty()) {
      for (Buffer& staging : staging_) {
        staging = Buffer(std::min(domains_.window, domains_.cut(writer_ + 1) - domains_.cut(writer_)));
        if (staging.data() == nullptr) return {Code::memory, "no memory for a writer's buffers: lower buffer_bytes"};
      }
    }
    std::vector<int64_t> largest;
    for (const Client& client : plan_.clients)
      if (client.rank != rank_)
        largest.push_back(largest_message([&](int64_t round) { return bytes_from(client, round); }));
    for (const Route& route : plan_.routes)
      if (route.rank != rank_)
        largest.push_back(largest_message([&](int64_t round) { return bytes_to(route, round); }));
    std::vector<Buffer> taken;
    for (const int64_t bytes : largest) {
      taken.emplace_back(bytes);
      if (taken.back().data() == nullptr)
        return {Code::memory, fmt::format("no memory for a message of {} bytes: lower buffer_bytes", bytes)};
    }
    for (Buffer& buffer : taken) pool_.give(std::move(buffer));
    if (reading() && rounds_ > 0) read_ahead(0);
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
    return round_ == rounds_ && outgoing_.empty() && background_.idle();
  }

  Status finish() override {
    while (round_ < rounds_ || !outgoing_.empty()) {
      PENSTOCK_ASSIGN(const bool moved, try_step());
      if (!moved) wait_a_little();
    }
    {
      PhaseTimer timer(*job_.phases, reading() ? Phase::read : Phase::write);
      fail(background_.wait());
    }
    touched_ = files_.any();
    PhaseTimer timer(*job_.phases, Phase::sync);
    fail(files_.finish(failure_.ok() && job_.sync && !reading()));
    return failure_;
  }

  bool communicates() const override { return true; }
  bool touched_files() const override { return touched_; }

 private:
  struct Outgoing {  // the request goes before its buffer
    Buffer buffer;
    Request request;
    int64_t bytes = 0;
  };
  struct Incoming {
    Buffer buffer;
    Request request;
    size_t peer = 0;  // index of the client or route
  };

  bool reading() const { return job_.direction == Direction::read; }
  void fail(const Status& status) {
    if (failure_.ok()) failure_ = status;
  }
  int64_t window_begin(int writer, int64_t round) const {
    return std::min(domains_.cut(writer) + round * domains_.window, domains_.cut(writer + 1));
  }
  int64_t window_end(int writer, int64_t round) const { return window_begin(writer, round + 1); }
  static int tag(int64_t round) { return static_cast<int>(round % 1000); }

  int64_t bytes_from(const Client& client, int64_t round) const {
    int64_t bytes = 0;
    for (const Piece& piece : client.pieces)
      bytes += bytes_in(piece, window_begin(writer_, round), window_end(writer_, round));
    return bytes;
  }
  int64_t bytes_to(const Route& route, int64_t round) const {
    int64_t bytes = 0;
    for (const int i : route.pieces)
      bytes += bytes_in(job_.pieces[static_cast<size_t>(i)], window_begin(route.writer, round),
                        window_end(route.writer, round));
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
    Result<bool> moved = round_ < rounds_ ? step() : collect_last();
    if (!moved.ok()) broken_ = moved.status();
    return moved;
  }

  Result<bool> collect_last() {
    const size_t before = outgoing_.size();
    PENSTOCK_TRY(collect_sent());
    return outgoing_.size() < before;
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
      if (!plan_.clients.empty()) {
        if (!background_.idle()) return moved;
        fail(background_.wait());
        if (round_ + 1 < rounds_) read_ahead(round_ + 1);
        place_own();
      }
      filled_ = moved = true;
    }
    PENSTOCK_ASSIGN(const bool sent, send_next());
    moved = moved || sent;
    if (!reading() && !filled_) {
      if (job_.keep && !background_.idle()) return moved;
      begin_window();
      place_own();
      filled_ = moved = true;
    }
    PENSTOCK_ASSIGN(const bool received, take_received());
    moved = moved || received;
    if (next_peer_ < peers() || !incoming_.empty()) return moved;
    if (!reading()) {
      if (!background_.idle()) return moved;
      write_window();
    }
    ++round_;
    next_peer_ = 0;
    posted_ = filled_ = false;
    return true;
  }

  // Without keeping a core busy where only the file system can end it.
  void wait_a_little() {
    const bool for_file = posted_ && (!filled_ || (incoming_.empty() && outgoing_.empty()));
    PhaseTimer timer(*job_.phases, for_file ? file_phase() : Phase::exchange);
    if (for_file) background_.wait_idle();
    sched_yield();
  }

  Phase file_phase() const { return reading() ? Phase::read : Phase::write; }

  // Those that this rank sends to: writing, its writers; reading, its clients.
  size_t peers() const { return reading() ? plan_.clients.size() : plan_.routes.size(); }

  // Sends as far as the budget goes; whether anything was sent.
  Result<bool> send_next() {
    bool moved = false;
    PENSTOCK_TRY(collect_sent());
    while (next_peer_ < peers()) {
      const size_t i = reading() ? next_peer_ : (next_peer_ + start_route()) % plan_.routes.size();
      const int peer = reading() ? plan_.clients[i].rank : plan_.routes[i].rank;
      const int64_t bytes = peer == rank_ ? 0
                            : reading()   ? bytes_from(plan_.clients[i], round_)
                                          : bytes_to(plan_.routes[i], round_);
      if (bytes > 0) {
        PENSTOCK_ASSIGN(const bool sent, send(peer, bytes, [&](std::byte* to) {
                          if (reading())
                            place(plan_.clients[i], to);
                          else
                            pack(plan_.routes[i], to);
                        }));
        if (!sent) return moved;
      }
      ++next_peer_;
      moved = true;
    }
    return moved;
  }

  // Sources begin with different writers, so that a writer does not get everybody's messages at once.
  size_t start_route() const {
    return static_cast<size_t>(rank_) * plan_.routes.size() / static_cast<size_t>(job_.comm->size());
  }

  Status post_receives() {
    const auto post = [&](int peer, size_t index, int64_t bytes) -> Status {
      if (bytes == 0 || peer == rank_) return {};
      Incoming in;
      in.buffer = pool_.take(bytes);
      in.peer = index;
      if (in.buffer.data() == nullptr) return {Code::memory, fmt::format("no memory for a message of {} bytes", bytes)};
      PENSTOCK_ASSIGN(in.request,
                      job_.comm->receive(peer, tag(round_), std::span(in.buffer.data(), static_cast<size_t>(bytes))));
      incoming_.push_back(std::move(in));
      return {};
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
    bool moved = false;
    for (size_t i = 0; i < incoming_.size();) {
      Incoming& in = incoming_[i];
      bool done = false;
      {
        PhaseTimer timer(*job_.phases, Phase::exchange);
        PENSTOCK_ASSIGN(done, in.request.test());
      }
      if (!done) {
        ++i;
        continue;
      }
      if (reading())
        pack(plan_.routes[in.peer], in.buffer.data());
      else
        place(plan_.clients[in.peer], in.buffer.data());
      pool_.give(std::move(in.buffer));
      if (i + 1 < incoming_.size()) in = std::move(incoming_.back());
      incoming_.pop_back();
      moved = true;
    }
    return moved;
  }

  // False where other messages must have gone first.
  template <typename Fill>
  Result<bool> send(int peer, int64_t bytes, Fill fill) {
    if (!outgoing_.empty() && in_flight_ + bytes > send_budget) return false;
    Outgoing out;
    out.buffer = pool_.take(bytes);
    out.bytes = bytes;
    if (out.buffer.data() == nullptr) {
      if (!outgoing_.empty()) return false;  // what was reserved comes back
      return Status(Code::memory, fmt::format("no memory for a message of {} bytes", bytes));
    }
    fill(out.buffer.data());
    PhaseTimer timer(*job_.phases, Phase::exchange);
    PENSTOCK_ASSIGN(
        out.request,
        job_.comm->send(peer, tag(round_), std::span<const std::byte>(out.buffer.data(), static_cast<size_t>(bytes))));
    in_flight_ += bytes;
    outgoing_.push_back(std::move(out));
    return true;
  }

  Status collect_sent() {
    PhaseTimer timer(*job_.phases, Phase::exchange);
    for (size_t i = 0; i < outgoing_.size();) {
      PENSTOCK_ASSIGN(const bool done, outgoing_[i].request.test());
      if (!done) {
        ++i;
        continue;
      }
      in_flight_ -= outgoing_[i].bytes;
      pool_.give(std::move(outgoing_[i].buffer));
      outgoing_.erase(outgoing_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return {};
  }

  // Between this rank's memory and a packed message: writing packs, reading unpacks.
  void pack(const Route& route, std::byte* flat) {
    PhaseTimer timer(*job_.phases, Phase::pack);
    for (const int i : route.pieces) {
      const Piece& piece = job_.pieces[static_cast<size_t>(i)];
      SliceCursor cursor(piece, window_begin(route.writer, round_), window_end(route.writer, round_));
      for (Slice slice; cursor.next(slice); flat += slice.bytes) copy_slice(piece, slice, flat, job_.direction);
    }
  }

  // Between a packed message and the staging buffer.
  void place(const Client& client, std::byte* flat) {
    PhaseTimer timer(*job_.phases, Phase::pack);
    const int64_t begin = window_begin(writer_, round_);
    std::byte* staging = staging_[round_ % 2].data();
    if (staging == nullptr) return;
    for (const Piece& piece : client.pieces) {
      SliceCursor cursor(piece, begin, window_end(writer_, round_));
      for (Slice slice; cursor.next(slice); flat += slice.bytes) {
        std::byte* at = staging + (slice.address - begin);
        if (reading())
          std::memcpy(flat, at, static_cast<size_t>(slice.bytes));
        else
          std::memcpy(at, flat, static_cast<size_t>(slice.bytes));
      }
    }
  }

  // What this rank has in its own domain goes without a message.
  void place_own() {
    PhaseTimer timer(*job_.phases, Phase::pack);
    std::byte* staging = staging_[round_ % 2].data();
    if (writer_ < 0 || staging == nullptr) return;
    const int64_t begin = window_begin(writer_, round_);
    for (const Client& client : plan_.clients) {
      if (client.rank != rank_) continue;
      for (const Piece& piece : client.pieces) {
        SliceCursor cursor(piece, begin, window_end(writer_, round_));
        for (Slice slice; cursor.next(slice);)
          copy_slice(piece, slice, staging + (slice.address - begin), job_.direction);
      }
    }
  }

  // The ranges of parts that a window has to move, in whole blocks; a window without pieces has none.
  std::vector<Range> ranges(int64_t round) const {
    if (writer_ < 0) return {};
    const int64_t begin = window_begin(writer_, round), end = window_end(writer_, round);
    std::vector<Range> found;
    for (const Client& client : plan_.clients) {
      for (const Piece& piece : client.pieces) {
        const int64_t bytes = bytes_in(piece, begin, end);
        if (bytes == 0) continue;
        const Part& part = plan_.parts[static_cast<size_t>(piece.part)];
        auto range = std::find_if(found.begin(), found.end(), [&](const Range& r) { return r.part == &part; });
        if (range == found.end()) range = found.insert(found.end(), Range{&part, INT64_MAX, 0, 0});
        range->begin = std::min(range->begin, std::max(begin, first_address(piece)));
        range->end = std::max(range->end, std::min(end, last_address(piece)));
        range->bytes += bytes;
      }
    }
    for (Range& range : found) {
      range.begin = range.begin / domains_.block * domains_.block;
      range.end = (range.end + domains_.block - 1) / domains_.block * domains_.block;
      range.end = std::min({range.end, end, range.part->virtual_base + range.part->bytes});
    }
    return found;
  }

  // Zeros, or what the file has, under the gaps between pieces.
  void begin_window() {
    ranges_ = ranges(round_);
    if (!failure_.ok()) return;
    const int64_t begin = window_begin(writer_, round_);
    for (const Range& range : ranges_) {
      if (job_.disjoint && range.bytes >= range.end - range.begin) continue;
      const std::span<std::byte> gap(staging_[round_ % 2].data() + (range.begin - begin),
                                     static_cast<size_t>(range.end - range.begin));
      if (job_.keep) {
        fail(background_.wait());  // files_ is used by one thread at a time
        fail(read_range(range, gap));
      } else {
        std::memset(gap.data(), 0, gap.size());
      }
    }
  }

  Status read_range(const Range& range, std::span<std::byte> bytes) {
    PENSTOCK_ASSIGN(StorageFile * file, files_.at(range.part->path));
    return file->read(range.begin - range.part->virtual_base, bytes);
  }

  void write_window() {
    if (ranges_.empty()) return fail(background_.wait());  // the next round fills the buffer of two rounds ago
    PhaseTimer timer(*job_.phases, Phase::write);
    fail(background_.wait());
    if (!failure_.ok()) return;
    std::byte* staging = staging_[round_ % 2].data();
    const int64_t begin = window_begin(writer_, round_);
    fail(background_.submit([this, staging, begin, list = ranges_]() -> Status {
      for (const Range& range : list) {
        PENSTOCK_ASSIGN(StorageFile * file, files_.at(range.part->path));
        PENSTOCK_TRY(file->write(
            range.begin - range.part->virtual_base,
            std::span<const std::byte>(staging + (range.begin - begin), static_cast<size_t>(range.end - range.begin))));
      }
      return {};
    }));
  }

  void read_ahead(int64_t round) {
    if (plan_.clients.empty() || !failure_.ok()) return;
    std::byte* staging = staging_[round % 2].data();
    const int64_t begin = window_begin(writer_, round);
    fail(background_.submit([this, staging, begin, list = ranges(round)]() -> Status {
      for (const Range& range : list)
        PENSTOCK_TRY(read_range(
            range, std::span(staging + (range.begin - begin), static_cast<size_t>(range.end - range.begin))));
      return {};
    }));
  }

  const Job& job_;
  const Domains domains_;
  const ExchangePlan plan_;
  OpenParts files_;
  const int rank_, writer_;
  const int64_t rounds_;
  int64_t round_ = 0;  // under way, and how far:
  bool posted_ = false, filled_ = false;
  size_t next_peer_ = 0;
  std::vector<Incoming> incoming_;
  Buffer staging_[2];
  std::vector<Range> ranges_;
  BufferPool pool_;
  std::deque<Outgoing> outgoing_;
  int64_t in_flight_ = 0;
  Status failure_;  // of the file system: this rank goes on receiving
  Status broken_;   // of messages
  bool touched_ = false;
  Background background_;  // last: its task uses the others
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
    auto transfer = std::make_unique<TwoPhaseTransfer>(job, settings, domains, std::move(plan));
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
