// Carrier: the parcels that this rank carries between its node, or itself, and writers on other nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/transport/transport.hpp"
#include "core/transport/two_phase/buffers.hpp"
#include "core/transport/two_phase/couriers.hpp"
#include "core/transport/two_phase/domain.hpp"
#include "core/transport/two_phase/exchange.hpp"

namespace penstock {

// All functions are local and never wait. Parcels start round after round, in each in the order of writers, or from
// another writer on, as far as there is memory for them. They do not wait for rounds of this rank as a writer.
class Carrier {
 public:
  // The arguments must outlive it. RING wakes a rank of the node.
  Carrier(const Job& job, const Domains& domains, const std::vector<Parcel>& parcels, Couriers& couriers,
          std::function<void(int rank)> ring)
      : job_(job),
        domains_(domains),
        rounds_(domains.rounds()),
        parcels_(parcels),
        couriers_(couriers),
        ring_(std::move(ring)) {}
  // If abandoned while messages are in progress, it leaves MPI their memory: with couriers, all that the node shares.
  ~Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  // Memory for parcels: this rank's outbox, or BUDGET bytes of its own if that many can be needed.
  Status reserve(int64_t budget);

  // Starts what it can and moves on what is under way; returns whether it did anything.
  Result<bool> step();
  bool done() const { return round_ == rounds_ && under_way_.empty(); }
  bool has_messages() const;  // in progress
  bool any() const { return !parcels_.empty(); }
  int64_t bytes() const { return std::ssize(memory_); }

 private:
  struct UnderWay {
    const Parcel* parcel = nullptr;
    int64_t round = 0, place = 0;
    Load load;
    int number = 0;
    int64_t asked = 0;     // ranks of the node
    bool travels = false;  // as a message
    Request message;
  };

  bool reading() const { return job_.direction == Direction::read; }
  Window window(const Parcel& parcel, int64_t round) const { return domains_.window_of(parcel.writer, round); }
  // Starts the next parcel; false if there is no room.
  Result<bool> start_next();
  // Room for BYTES more, or -1.
  int64_t find_room(int64_t bytes) const;
  int free_number() const;
  Status start(const Parcel& parcel, int64_t round, int64_t place, Load load);
  // The ranks of the node copy their elements, or this one its own.
  void let_copy(UnderWay& one);
  Status travel(UnderWay& one);
  // Whether ONE has ended; MOVED if it went on.
  Result<bool> go_on(UnderWay& one, bool& moved);

  const Job& job_;
  const Domains& domains_;
  const int64_t rounds_;
  const std::vector<Parcel>& parcels_;
  Couriers& couriers_;
  std::function<void(int)> ring_;
  Buffer own_;
  std::span<std::byte> memory_;
  std::vector<UnderWay> under_way_;
  int64_t round_ = 0;         // to start
  size_t next_ = 0;           // parcel of it
  std::optional<Load> load_;  // of that, if there was no room for it
};

}  // namespace penstock
