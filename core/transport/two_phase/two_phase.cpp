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
      "what a writer assembles at once; it has two such buffers"}},
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
      PENSTOCK_TRY(do_round(round_));
      ++round_;
      if (now() > deadline) break;
    }
    return round_ == rounds_;
  }

  Status finish() override {
    for (; round_ < rounds_; ++round_) PENSTOCK_TRY(do_round(round_));
    PENSTOCK_TRY(drain(0));
    {
      PhaseTimer timer(*job_.phases, reading() ? Phase::read : Phase::write);
      fail(background_.wait());
    }
    touched_ = files_.any();
    PhaseTimer timer(*job_.phases, Phase::sync);
    fail(files_.finish(failure_.ok() && job_.sync && !reading()));
    return failure_;
  }

  bool touched_files() const override { return touched_; }

 private:
  struct Outgoing {
    Request request;
    Buffer buffer;
    int64_t bytes = 0;
  };
  struct Incoming {
    Request request;
    Buffer buffer;
    size_t peer = 0;  // index of the client or route
    bool done = false;
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

  // Receives are posted before anything is sent, so a rank that waits for its sends never keeps another from its own.
  Status do_round(int64_t round) {
    std::vector<Incoming> incoming;
    PENSTOCK_TRY(post_receives(round, incoming));
    if (!reading()) {
      for (size_t i = 0; i < plan_.routes.size(); ++i) {
        const Route& route = plan_.routes[(i + start_route()) % plan_.routes.size()];
        if (route.rank != rank_)
          PENSTOCK_TRY(
              send_pieces(route.rank, round, bytes_to(route, round), [&](std::byte* to) { pack(route, round, to); }));
      }
      begin_window(round);
      place_own(round);
      PENSTOCK_TRY(
          finish_receives(incoming, [&](Incoming& in) { place(plan_.clients[in.peer], round, in.buffer.data()); }));
      write_window(round);
    } else {
      if (!plan_.clients.empty()) {
        {
          PhaseTimer timer(*job_.phases, Phase::read);
          fail(background_.wait());
        }
        if (round + 1 < rounds_) read_ahead(round + 1);
        for (const Client& client : plan_.clients)
          if (client.rank != rank_)
            PENSTOCK_TRY(send_pieces(client.rank, round, bytes_from(client, round),
                                     [&](std::byte* to) { place(client, round, to); }));
        place_own(round);
      }
      PENSTOCK_TRY(
          finish_receives(incoming, [&](Incoming& in) { pack(plan_.routes[in.peer], round, in.buffer.data()); }));
    }
    return {};
  }

  // Sources begin with different writers, so that a writer does not get everybody's messages at once.
  size_t start_route() const {
    return static_cast<size_t>(rank_) * plan_.routes.size() / static_cast<size_t>(job_.comm->size());
  }

  Status post_receives(int64_t round, std::vector<Incoming>& incoming) {
    const auto post = [&](int peer, size_t index, int64_t bytes) -> Status {
      if (bytes == 0 || peer == rank_) return {};
      Incoming in;
      in.buffer = pool_.take(bytes);
      in.peer = index;
      if (in.buffer.data() == nullptr) return {Code::memory, fmt::format("no memory for a message of {} bytes", bytes)};
      PENSTOCK_ASSIGN(in.request,
                      job_.comm->receive(peer, tag(round), std::span(in.buffer.data(), static_cast<size_t>(bytes))));
      incoming.push_back(std::move(in));
      return {};
    };
    if (reading()) {
      for (size_t i = 0; i < plan_.routes.size(); ++i)
        PENSTOCK_TRY(post(plan_.routes[i].rank, i, bytes_to(plan_.routes[i], round)));
    } else {
      for (size_t i = 0; i < plan_.clients.size(); ++i)
        PENSTOCK_TRY(post(plan_.clients[i].rank, i, bytes_from(plan_.clients[i], round)));
    }
    return {};
  }

  template <typename Take>
  Status finish_receives(std::vector<Incoming>& incoming, Take take) {
    size_t left = incoming.size();
    while (left > 0) {
      bool any = false;
      for (Incoming& in : incoming) {
        if (in.done) continue;
        {
          PhaseTimer timer(*job_.phases, Phase::exchange);
          PENSTOCK_ASSIGN(in.done, in.request.test());
        }
        if (!in.done) continue;
        any = true;
        --left;
        take(in);
        pool_.give(std::move(in.buffer));
      }
      if (!any) {
        PhaseTimer timer(*job_.phases, Phase::exchange);
        sched_yield();
      }
    }
    return {};
  }

  template <typename Fill>
  Status send_pieces(int peer, int64_t round, int64_t bytes, Fill fill) {
    if (bytes == 0) return {};
    PENSTOCK_TRY(drain(std::max<int64_t>(0, send_budget - bytes)));
    Outgoing out;
    out.buffer = pool_.take(bytes);
    if (out.buffer.data() == nullptr) {
      PENSTOCK_TRY(drain(0));  // what was reserved comes back
      out.buffer = pool_.take(bytes);
    }
    out.bytes = bytes;
    if (out.buffer.data() == nullptr) return {Code::memory, fmt::format("no memory for a message of {} bytes", bytes)};
    fill(out.buffer.data());
    PhaseTimer timer(*job_.phases, Phase::exchange);
    PENSTOCK_ASSIGN(
        out.request,
        job_.comm->send(peer, tag(round), std::span<const std::byte>(out.buffer.data(), static_cast<size_t>(bytes))));
    in_flight_ += bytes;
    outgoing_.push_back(std::move(out));
    return {};
  }

  // Until at most BYTES are under way.
  Status drain(int64_t bytes) {
    PhaseTimer timer(*job_.phases, Phase::exchange);
    while (!outgoing_.empty()) {
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
      if (in_flight_ <= bytes) break;
      sched_yield();
    }
    return {};
  }

  // Between this rank's memory and a packed message: writing packs, reading unpacks.
  void pack(const Route& route, int64_t round, std::byte* flat) {
    PhaseTimer timer(*job_.phases, Phase::pack);
    for (const int i : route.pieces) {
      const Piece& piece = job_.pieces[static_cast<size_t>(i)];
      SliceCursor cursor(piece, window_begin(route.writer, round), window_end(route.writer, round));
      for (Slice slice; cursor.next(slice); flat += slice.bytes) copy_slice(piece, slice, flat, job_.direction);
    }
  }

  // Between a packed message and the staging buffer.
  void place(const Client& client, int64_t round, std::byte* flat) {
    PhaseTimer timer(*job_.phases, Phase::pack);
    const int64_t begin = window_begin(writer_, round);
    std::byte* staging = staging_[round % 2].data();
    if (staging == nullptr) return;
    for (const Piece& piece : client.pieces) {
      SliceCursor cursor(piece, begin, window_end(writer_, round));
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
  void place_own(int64_t round) {
    PhaseTimer timer(*job_.phases, Phase::pack);
    std::byte* staging = staging_[round % 2].data();
    if (writer_ < 0 || staging == nullptr) return;
    const int64_t begin = window_begin(writer_, round);
    for (const Client& client : plan_.clients) {
      if (client.rank != rank_) continue;
      for (const Piece& piece : client.pieces) {
        SliceCursor cursor(piece, begin, window_end(writer_, round));
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
  void begin_window(int64_t round) {
    ranges_ = ranges(round);
    if (!failure_.ok()) return;
    const int64_t begin = window_begin(writer_, round);
    for (const Range& range : ranges_) {
      if (job_.disjoint && range.bytes >= range.end - range.begin) continue;
      const std::span<std::byte> gap(staging_[round % 2].data() + (range.begin - begin),
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

  void write_window(int64_t round) {
    if (ranges_.empty()) return fail(background_.wait());  // the next round fills the buffer of two rounds ago
    PhaseTimer timer(*job_.phases, Phase::write);
    if (!failure_.ok()) return;
    std::byte* staging = staging_[round % 2].data();
    const int64_t begin = window_begin(writer_, round);
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
  int64_t round_ = 0;
  Buffer staging_[2];
  std::vector<Range> ranges_;
  BufferPool pool_;
  std::deque<Outgoing> outgoing_;
  int64_t in_flight_ = 0;
  Status failure_;
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
    const Domains domains =
        cut_domains(-bounds[0], bounds[1], job.block, settings.integer("buffer_bytes"),
                    static_cast<int>(std::min<int64_t>(settings.integer("writers"), INT32_MAX)), job.comm->size());
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
