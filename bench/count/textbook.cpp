// Textbook: two-phase writing with lists of runs and unaligned domains, counted run by run.
#include <algorithm>
#include <set>
#include <utility>

#include "bench/count/costs.hpp"
#include "core/transport/two_phase/exchange.hpp"

namespace penstock::bench {

namespace {

constexpr int64_t run_bytes = 16;          // an offset and a length
constexpr int64_t round_bytes = 16 << 20;  // ROMIO's cb_buffer_size

struct Aggregators {
  int64_t begin = 0, end = 0;
  int64_t share = 1;  // bytes of each aggregator's domain
  int64_t count = 1;

  int64_t at(int64_t address) const { return (address - begin) / share; }
  int64_t end_of(int64_t aggregator) const { return std::min(end, begin + (aggregator + 1) * share); }
  int64_t round_of(int64_t address) const { return (address - begin) % share / round_bytes; }
  int64_t end_of_round(int64_t address) const {
    const int64_t aggregator = at(address);
    return std::min(end_of(aggregator), begin + aggregator * share + (round_of(address) + 1) * round_bytes);
  }
};

Result<Aggregators> aggregators_of(const VirtualJob& job) {
  Reach all;
  for (const int rank : job.counted()) {
    PENSTOCK_ASSIGN(const std::vector<penstock::Piece> pieces, job.pieces(rank));
    all.add(reach_of(pieces));
  }
  Aggregators a;
  a.count = job.nodes();
  if (all.begin >= all.end) return a;
  a.begin = all.begin;
  a.end = all.end;
  a.share = (a.end - a.begin + a.count - 1) / a.count;
  return a;
}

// The messages of one rank, while its runs are visited in file order.
class Walk {
 public:
  Walk(const VirtualJob& job, const Aggregators& aggregators, int rank, Tally& tally)
      : job_(job), aggregators_(aggregators), rank_(rank), tally_(tally) {}

  void run(int64_t address, int64_t bytes) {
    int64_t listed = -1;
    while (bytes > 0) {
      const int64_t to = aggregators_.at(address);
      const int64_t here = std::min(bytes, aggregators_.end_of_round(address) - address);
      if (to != listed) list(listed = to);
      carry(to, address, here);
      address += here;
      bytes -= here;
    }
  }

  // Every rank sends the lengths of its lists to every rank; only lists that are not empty are sent.
  Sent sent() {
    Sent sent = sent_;
    if (job_.ranks() > 1) sent.plan_messages += job_.ranks() - 1;
    sent.plan_messages += static_cast<int64_t>(told_.size());
    return sent;
  }

 private:
  int rank_of(int64_t aggregator) const { return job_.first_rank_of(static_cast<int>(aggregator)); }

  void list(int64_t to) {
    if (rank_of(to) == rank_) return;
    if (to != last_told_) told_.insert(last_told_ = to);
    sent_.plan_bytes += run_bytes;
    tally_.tell(to, run_bytes);
  }

  void carry(int64_t to, int64_t address, int64_t bytes) {
    const bool far = job_.node_of(rank_) != to;
    (far ? sent_.far_bytes : sent_.near_bytes) += bytes;
    tally_.write(to, {address, address + bytes});
    const std::pair message{to, aggregators_.round_of(address)};
    if (rank_of(to) == rank_ || message == last_ || !messages_.insert(message).second) return;
    last_ = message;
    ++sent_.data_messages;
    sent_.far_messages += far;
  }

  const VirtualJob& job_;
  const Aggregators& aggregators_;
  const int rank_;
  Tally& tally_;
  Sent sent_;
  std::set<int64_t> told_;
  int64_t last_told_ = -1;
  std::set<std::pair<int64_t, int64_t>> messages_;  // aggregator and round
  std::pair<int64_t, int64_t> last_{-1, -1};
};

// Rank 0 creates and closes the file, then all ranks open, sync and close it. No allocation, no rename.
MetadataCalls metadata_calls(int64_t ranks, bool durable) {
  MetadataCalls calls;
  calls.create = 1;
  calls.open = ranks;
  calls.sync = durable ? ranks : 0;
  calls.close = ranks + 1;
  return calls;
}

}  // namespace

Result<Costs> count_textbook(const VirtualJob& job, bool durable, int64_t stripe) {
  PENSTOCK_ASSIGN(const Aggregators aggregators, aggregators_of(job));
  Tally tally(aggregators.count, false);
  for (const int rank : job.counted()) {
    PENSTOCK_ASSIGN(const std::vector<penstock::Piece> pieces, job.pieces(rank));
    Walk walk(job, aggregators, rank, tally);
    for (const penstock::Piece& piece : pieces) {
      SliceCursor cursor(piece, first_address(piece), last_address(piece));
      for (Slice slice; cursor.next(slice);) walk.run(slice.address, slice.bytes);
    }
    tally.add(walk.sent());
  }
  Costs costs = tally.costs(job, stripe);
  costs.metadata = metadata_calls(job.ranks(), durable);
  return costs;
}

}  // namespace penstock::bench
