// Costs: sums over ranks, and units that adjacent writers share.
#include "bench/count/costs.hpp"

#include <algorithm>

namespace penstock::bench {

namespace {

void add_to(PerRank& sum, int64_t value) {
  sum.mean += static_cast<double>(value);
  sum.most = std::max(sum.most, value);
}

}  // namespace

void Tally::write(int64_t writer, AddressRange range) {
  AddressRange& all = written_[static_cast<size_t>(writer)];
  if (all.begin == all.end) all = range;
  all.begin = std::min(all.begin, range.begin);
  all.end = std::max(all.end, range.end);
}

void Tally::add_messages(const Sent& sent) {
  ++senders_;
  add_to(sums_.plan_messages, sent.plan_messages);
  add_to(sums_.data_messages, sent.data_messages);
  add_to(sums_.far_messages, sent.far_messages);
  add_to(sums_.messages, sent.plan_messages + (by_node_ ? sent.far_messages : sent.data_messages));
  add_to(sums_.plan_bytes, sent.plan_bytes);
}

void Tally::add_bytes(const Sent& sent) {
  sums_.far_bytes += sent.far_bytes;
  sums_.near_bytes += sent.near_bytes;
}

int64_t Tally::writers() const {
  return std::count_if(written_.begin(), written_.end(), [](const AddressRange& r) { return r.begin < r.end; });
}

// Writers are contiguous in the file, so a unit shared by several is the first one of all of them except one.
int64_t Tally::conflicts(int64_t unit) const {
  int64_t found = 0, last = -1, counted = -1;
  for (const AddressRange& range : written_) {
    if (range.begin == range.end) continue;
    const int64_t first = range.begin / unit;
    if (first == last && first != counted) {
      ++found;
      counted = first;
    }
    last = (range.end - 1) / unit;
  }
  return found;
}

Costs Tally::costs(const VirtualJob& job, int64_t stripe) const {
  Costs costs = sums_;
  costs.writers = writers();
  for (PerRank* of :
       {&costs.plan_messages, &costs.data_messages, &costs.far_messages, &costs.messages, &costs.plan_bytes})
    of->mean /= static_cast<double>(senders_);
  costs.far_bytes = static_cast<int64_t>(job.of_all(static_cast<double>(sums_.far_bytes)));
  costs.near_bytes = static_cast<int64_t>(job.of_all(static_cast<double>(sums_.near_bytes)));
  for (const int64_t bytes : told_) costs.plan_received = std::max(costs.plan_received, bytes);
  costs.bytes = job.bytes();
  costs.stripe_conflicts = conflicts(stripe);
  costs.block_conflicts = conflicts(job.block());
  return costs;
}

}  // namespace penstock::bench
