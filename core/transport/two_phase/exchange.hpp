// The exchange plan: which rank sends which data to which writer, as selections and never as lists of offsets that both
// sides could compute.
#pragma once

#include <span>
#include <vector>

#include "core/transport/move.hpp"
#include "core/transport/transport.hpp"
#include "core/transport/two_phase/domain.hpp"

namespace penstock {

// Pieces in the order of their datasets' addresses, so that those of a window are found without visiting all.
class PieceList {
 public:
  PieceList() = default;
  explicit PieceList(std::vector<Piece> pieces);  // keeps their order, which is the same at both ends of a route
  // All pieces with bytes in RANGE, and possibly others; contiguous in the list.
  std::span<const Piece> near(AddressRange range) const;
  std::span<const Piece> all() const { return pieces_; }
  int64_t bytes_in(AddressRange range) const;
  int64_t bytes() const;  // of memory

 private:
  std::vector<Piece> pieces_;
  std::vector<int64_t> reach_;  // the highest address of all pieces up to each
  std::vector<int64_t> start_;  // the lowest address of all pieces from each on
};

// One end of the path between a rank and a writer. Elements move packed, piece after piece, each in file order.
struct Route {  // this rank as a source, reading as a sink
  int writer = 0;
  int rank = 0;  // the writer's
  PieceList pieces;
};
struct Client {  // this rank as a writer
  int rank = 0;
  PieceList pieces;  // memory only if the client is this rank; part indexes ExchangePlan::parts
};

struct ExchangePlan {
  std::vector<Route> routes;    // by writer
  std::vector<Client> clients;  // by rank
  std::vector<Part> parts;      // with data for this writer
  int64_t bytes = 0;            // approximate size of the plan in memory
};

// The address range of the pieces of one rank, or of all ranks.
struct Reach {
  int64_t begin = INT64_MAX, end = INT64_MIN;  // of all bytes; END <= BEGIN if there are none
  int64_t span = 0;  // from the first byte of a piece to its last: average per rank, then maximum over ranks
  void add(const Reach& other);
  bool operator==(const Reach&) const = default;
};

// Plans of earlier transfers of the same ranks, without memory; kept with their communicator.
struct PlanCache {
  struct Entry {
    int64_t number = 0;  // of the exchange that made it, equal on all ranks
    uint64_t key = 0;    // of everything that this rank sent then
    std::vector<Client> clients;
    std::vector<Part> parts;
  };
  std::vector<Entry> entries;
  int64_t exchanges = 0;
  int64_t max_bytes = 1 << 20;  // of an entry; larger ones are not kept
  Domains domains;              // of the last transfer
  Reach reach;                  // of this rank's pieces in it
};

// This rank's part of an exchange in DOMAINS.
class OwnExchange {
 public:
  // Local.
  OwnExchange(const Job& job, Domains domains, const PlanCache& cache);
  const Domains& domains() const { return domains_; }
  // Of the earlier exchange that this one would repeat, as far as this rank knows; -1 if there is none.
  int64_t number() const { return cached_ == nullptr ? -1 : cached_->number; }
  // Collective. The plan. REPEATS: all ranks have the same number. Otherwise one sparse exchange: each source sends to
  // each of its writers the selections in the writer's domain. Pieces of many datasets with equal decomposition refer
  // to their common selection, which is sent once; a box is sent whole, runs are cut to the domain. Afterwards both
  // sides compute every message of every round themselves.
  Result<ExchangePlan> complete(const Job& job, bool repeats, PlanCache& cache) &&;

 private:
  Domains domains_;
  std::vector<Route> routes_;
  std::vector<Message> messages_;  // what this rank would send to others
  uint64_t key_ = 0;               // of that and what it keeps
  const PlanCache::Entry* cached_ = nullptr;
};
// Local.
Reach reach_of(std::span<const Piece> pieces);
// Local. The parameters of the cut from SETTINGS and the pieces of all ranks; the caller sets block and ranks.
Cut make_cut(const Reach& all, const Settings& settings, int64_t nodes);
// The limit of one rank for windows, for incoming and for outgoing messages: a quarter each; the last is for the plan.
int64_t share_of_memory(const Settings& settings);

// Local. The routes of PIECES.
std::vector<Route> find_routes(std::vector<Piece> pieces, const Domains& domains);
// Local. The description of ROUTE for its writer: the parts, whose names are new with every commit, and the pieces.
struct Description {
  std::vector<std::byte> parts, pieces;
};
Description describe_route(const std::vector<Part>& parts, const Domains& domains, const Route& route);

}  // namespace penstock
