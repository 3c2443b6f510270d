// Couriers: queues and counters in the shared memory.
#include "core/transport/two_phase/couriers.hpp"

#include <algorithm>
#include <atomic>

namespace penstock {
struct alignas(64) Couriers::Count {
  std::atomic<int64_t> done;
};

// A rank has at most one errand for each parcel in the outbox, so an errand is never overwritten before it is taken.
struct alignas(64) Couriers::Queue {
  std::atomic<uint32_t> asked;  // so far
  Errand errands[most_parcels];
};

int64_t Couriers::control_bytes(size_t couriers, size_t ranks) {
  return static_cast<int64_t>(couriers * (most_parcels * sizeof(Count) + ranks * sizeof(Queue)));
}

Couriers::Couriers(std::vector<int> couriers, std::vector<int> ranks, int rank, std::shared_ptr<SharedMemory> memory,
                   std::byte* control, std::byte* outboxes, int64_t bytes, std::vector<uint32_t>& taken)
    : couriers_(std::move(couriers)),
      ranks_(std::move(ranks)),
      memory_(std::move(memory)),
      control_(control),
      outboxes_(outboxes),
      bytes_(bytes),
      taken_(&taken),
      place_(static_cast<size_t>(std::ranges::lower_bound(ranks_, rank) - ranks_.begin())) {
  const auto own = std::ranges::find(couriers_, rank);
  if (own != couriers_.end()) courier_ = own - couriers_.begin();
}

std::optional<Couriers::Asked> Couriers::next() {
  for (size_t c = 0; c < couriers_.size(); ++c) {
    const Queue& from = queue(c, place_);
    uint32_t& taken = (*taken_)[c];
    if (from.asked.load() == taken) continue;
    const Errand errand = from.errands[taken++ % most_parcels];
    return Asked{couriers_[c], errand, outboxes_ + static_cast<int64_t>(c) * bytes_ + errand.place};
  }
  return {};
}

void Couriers::done(const Asked& asked) {
  const auto courier = static_cast<size_t>(std::ranges::find(couriers_, asked.courier) - couriers_.begin());
  count(courier, asked.errand.parcel).done.fetch_add(1);
}

std::span<std::byte> Couriers::outbox() const {
  if (courier_ < 0) return {};
  return {outboxes_ + courier_ * bytes_, static_cast<size_t>(bytes_)};
}

void Couriers::open(int parcel) { count(static_cast<size_t>(courier_), parcel).done.store(0); }

void Couriers::ask(int rank, const Errand& errand) {
  Queue& to = queue(static_cast<size_t>(courier_),
                    static_cast<size_t>(std::ranges::lower_bound(ranks_, rank) - ranks_.begin()));
  to.errands[to.asked.load() % most_parcels] = errand;
  to.asked.fetch_add(1);
}

int64_t Couriers::done_with(int parcel) const { return count(static_cast<size_t>(courier_), parcel).done.load(); }

Couriers::Count& Couriers::count(size_t courier, int parcel) const {
  return reinterpret_cast<Count*>(control_)[courier * most_parcels + static_cast<size_t>(parcel)];
}

Couriers::Queue& Couriers::queue(size_t courier, size_t rank) const {
  const size_t counts = couriers_.size() * most_parcels * sizeof(Count);
  return reinterpret_cast<Queue*>(control_ + counts)[courier * ranks_.size() + rank];
}

}  // namespace penstock
