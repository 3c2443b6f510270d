// Carrier: copies, messages, and the room for them.
#include "core/transport/two_phase/carrier.hpp"

#include <algorithm>
#include <bitset>
#include <utility>

#include <fmt/format.h>

#include "core/comm/patience.hpp"
#include "core/transport/move.hpp"

namespace penstock {

Carrier::~Carrier() {
  bool left = false;
  for (UnderWay& one : under_way_) {
    if (!one.travels) continue;
    const auto done = one.message.test();
    if (done.ok() && *done) continue;
    one.message.abandon();
    left = true;
  }
  if (!left) return;
  if (own_.data() != nullptr)
    own_.leak();
  else
    keep_for_ever(couriers_.memory());
}

Status Carrier::reserve(int64_t budget) {
  if (parcels_.empty()) return {};
  memory_ = couriers_.outbox();
  if (!memory_.empty()) return {};
  int64_t sum = 0, largest = 0;
  for (const Parcel& parcel : parcels_) {
    int64_t its = 0;
    for (int64_t round = 0; round < rounds_; ++round) its = std::max(its, load_of(parcel, window(parcel, round)).bytes);
    sum += its;
    largest = std::max(largest, its);
  }
  const int64_t bytes = std::max(largest, std::min(budget, sum));
  own_ = Buffer(bytes);
  if (own_.data() == nullptr)
    return {Code::memory, fmt::format("no memory for messages of {} bytes: lower buffer_bytes", bytes)};
  memory_ = {own_.data(), static_cast<size_t>(bytes)};
  return {};
}

Result<bool> Carrier::step() {
  bool moved = false;
  for (size_t i = 0; i < under_way_.size();) {
    PENSTOCK_ASSIGN(const bool ended, go_on(under_way_[i], moved));
    if (ended)
      under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  const auto has_its_tag = [&](const UnderWay& one) { return one.round + round_tags <= round_; };
  for (; round_ < rounds_; ++round_) {
    if (std::ranges::any_of(under_way_, has_its_tag)) return moved;
    for (; next_ < parcels_.size(); ++next_) {
      PENSTOCK_ASSIGN(const bool started, start_next());
      if (!started) return moved;
      moved = true;
    }
    next_ = 0;
  }
  return moved;
}

// Writing, nodes start with different writers, so that a writer does not get all parcels at once. Reading, all wait for
// the same writer first, so that this writer can always proceed.
Result<bool> Carrier::start_next() {
  const auto rank = static_cast<size_t>(job_.comm->rank()), size = static_cast<size_t>(job_.comm->size());
  const size_t first = reading() ? 0 : rank * parcels_.size() / size;
  const Parcel& parcel = parcels_[(next_ + first) % parcels_.size()];
  const Load load = load_ ? *load_ : load_of(parcel, window(parcel, round_));
  load_.reset();
  if (load.bytes == 0) return true;
  const int64_t place = find_room(load.bytes);
  if (place < 0) {
    load_ = load;
    return false;
  }
  PENSTOCK_TRY(start(parcel, round_, place, load));
  return true;
}

int64_t Carrier::find_room(int64_t bytes) const {
  if (under_way_.size() == Couriers::most_parcels) return -1;
  const auto is_free = [&](int64_t place) {
    return place + bytes <= std::ssize(memory_) && std::ranges::none_of(under_way_, [&](const UnderWay& one) {
             return place < one.place + one.load.bytes && one.place < place + bytes;
           });
  };
  if (is_free(0)) return 0;
  for (const UnderWay& one : under_way_)
    if (is_free(one.place + one.load.bytes)) return one.place + one.load.bytes;
  return -1;
}

int Carrier::free_number() const {
  std::bitset<Couriers::most_parcels> taken;
  for (const UnderWay& one : under_way_) taken.set(static_cast<size_t>(one.number));
  int number = 0;
  while (taken.test(static_cast<size_t>(number))) ++number;
  return number;
}

Status Carrier::start(const Parcel& parcel, int64_t round, int64_t place, Load load) {
  UnderWay one{&parcel, round, place, load, free_number(), 0, false, {}};
  if (reading())
    PENSTOCK_TRY(travel(one));
  else
    let_copy(one);
  under_way_.push_back(std::move(one));
  return {};
}

void Carrier::let_copy(UnderWay& one) {
  const Window its = window(*one.parcel, one.round);
  if (couriers_.all().empty()) {
    PhaseTimer timer(*job_.phases, Phase::pack);
    std::byte* data = memory_.data() + one.place;
    return copy_load(one.parcel->clients.front().pieces, its, data, one.load.image, job_.direction);
  }
  couriers_.open(one.number);
  int64_t place = one.place;
  for (const Client& client : one.parcel->clients) {
    const int64_t bytes = client.pieces.bytes_in(its);
    if (bytes == 0) continue;
    couriers_.ask(client.rank, {one.round, place, one.parcel->writer, one.number, one.load.image});
    ring_(client.rank);
    if (!one.load.image) place += bytes;
    ++one.asked;
  }
}

Status Carrier::travel(UnderWay& one) {
  PhaseTimer timer(*job_.phases, Phase::exchange);
  const int tag = static_cast<int>(one.round % round_tags);
  const auto bytes = memory_.subspan(static_cast<size_t>(one.place), static_cast<size_t>(one.load.bytes));
  if (reading()) {
    PENSTOCK_ASSIGN(one.message, job_.comm->receive(one.parcel->peer, tag, bytes));
  } else {
    PENSTOCK_ASSIGN(one.message, job_.comm->send(one.parcel->peer, tag, bytes));
  }
  one.travels = true;
  return {};
}

Result<bool> Carrier::go_on(UnderWay& one, bool& moved) {
  if (one.travels) {
    PhaseTimer timer(*job_.phases, Phase::exchange);
    PENSTOCK_ASSIGN(const bool done, one.message.test());
    if (!done) return false;
    one.travels = false;
    moved = true;
    if (!reading()) return true;
    let_copy(one);
  }
  const bool copied = one.asked == 0 || couriers_.done_with(one.number) == one.asked;
  if (!copied) return false;
  moved = true;
  if (!reading()) PENSTOCK_TRY(travel(one));
  return reading();
}

bool Carrier::has_messages() const {
  return std::ranges::any_of(under_way_, [](const UnderWay& one) { return one.travels; });
}

}  // namespace penstock
