// Carrier: the parcels that this rank carries between its node, or itself, and writers on other nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/transport/transport.hpp"
#include "core/transport/two_phase/buffers.hpp"
#include "core/transport/two_phase/couriers.hpp"
#include "core/transport/two_phase/domain.hpp"
#include "core/transport/two_phase/exchange.hpp"

namespace penstock {

// All functions are local and never wait. Parcels of a round start in the order of writers, or from another writer on;
// where their memory is used up they wait for earlier ones.
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
  // If abandoned while messages are in progress, it leaves MPI their memory.
  ~Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  // Memory for parcels: this rank's outbox, or BUDGET bytes of its own if that many can be needed.
  Status reserve(int64_t budget);

  // Starts what it can of ROUND and moves on what is under way; returns whether it did anything.
  Result<bool> step(int64_t round);
  // Whether all parcels of ROUND have started.
  bool has_started(int64_t round) const { return started_ > round; }
  bool idle() const { return under_way_.empty(); }
  bool has_messages() const;  // in progress
  bool any() const { return !parcels_.empty(); }
  int64_t bytes() const { return own_.bytes(); }  // of memory, not shared

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
  AddressRange range(const Parcel& parcel, int64_t round) const { return domains_.range(parcel.writer, round); }
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
  size_t next_ = 0;      // parcel of the round
  int64_t started_ = 0;  // rounds
};

}  // namespace penstock
