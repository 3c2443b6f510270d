// The exchange plan: which rank sends which data to which writer, as selections and never as lists of offsets that both
// sides could compute.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/encode.hpp"
#include "core/transport/move.hpp"
#include "core/transport/transport.hpp"
#include "core/transport/two_phase/domain.hpp"

namespace penstock {

// Pieces in the order of their datasets' addresses, so that those of a window are found without visiting all. Copies
// share them.
class PieceList {
 public:
  PieceList() = default;
  explicit PieceList(std::vector<Piece> pieces);  // keeps their order, which is the same at both ends of a route
  // All pieces with bytes in RANGE, and possibly others; contiguous in the list.
  std::span<const Piece> near(AddressRange range) const;
  std::span<const Piece> all() const { return lists_ ? lists_->pieces : std::span<const Piece>(); }
  int64_t bytes_in(const Window& window) const;
  int64_t bytes() const;  // of memory

 private:
  struct Lists {
    std::vector<Piece> pieces;
    std::vector<int64_t> reach;  // the highest address of all pieces up to each
    std::vector<int64_t> start;  // the lowest address of all pieces from each on
  };
  std::shared_ptr<const Lists> lists_;
};

// The tag of a round's messages is its number modulo this.
inline constexpr int64_t round_tags = 1000;

// One end of the path between a rank and a writer. Elements move packed, piece after piece, each in file order.
struct Route {  // this rank as a source, reading as a sink
  int writer = 0;
  int rank = 0;  // the writer's
  PieceList pieces;
};
struct Client {  // of a writer or a courier
  int rank = 0;
  int carrier = 0;   // the rank that exchanges its data with the writer
  PieceList pieces;  // memory only if the client is this rank; a writer's have parts of ExchangePlan::parts
};
// What one rank exchanges, for itself or for ranks of its node, with a writer: one message for each window.
struct Parcel {
  int writer = 0;
  int peer = 0;                 // the rank at the other end
  std::vector<Client> clients;  // by rank
};
// What a parcel holds of a window: its clients' elements, packed one client after another; or, if these have more bytes
// than the window, as where many read the same, an image of the window.
struct Load {
  int64_t bytes = 0;
  bool image = false;
};
Load load_of(const Parcel& parcel, const Window& window);
// Copies between the memory of PIECES and their elements in WINDOW: in an image of it, or packed, range after range.
void copy_load(const PieceList& pieces, const Window& window, std::byte* data, bool image, Direction direction);

// How the data of this rank reaches writers.
struct Ways {
  int rank = 0;
  std::vector<int> node;      // ranks that fill each other's windows in shared memory; this one alone if it cannot
  std::vector<int> couriers;  // ranks of the node that carry its data to other nodes; empty: each rank its own

  bool operator==(const Ways&) const = default;
  bool is_near(int other) const { return std::ranges::binary_search(node, other); }
  // REQUIRES: couriers. The one that exchanges the node's data with WRITER, which is not near.
  int courier_to(int writer) const { return couriers[static_cast<size_t>(writer) % couriers.size()]; }
  // REQUIRES: couriers. The rank of the node that is to know what goes to WRITER, on rank WRITER_RANK.
  int taker(int writer, int writer_rank) const { return is_near(writer_rank) ? writer_rank : courier_to(writer); }
  // REQUIRES: couriers. The one to which this rank tells a short plan for all takers: one for each 64 ranks.
  int secretary() const {
    const auto place = static_cast<size_t>(std::ranges::lower_bound(node, rank) - node.begin());
    return couriers[place / 64 % couriers.size()];
  }
};

struct ExchangePlan {
  std::vector<Route> routes;    // by writer
  std::vector<Client> clients;  // of this rank as a writer, by rank
  std::vector<Part> parts;      // with data for this writer
  std::vector<Parcel> parcels;  // that this rank carries to writers, or reading from them; by writer
  bool leaves_node = false;     // with couriers: a rank of this node exchanges data with other nodes
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
    std::vector<Parcel> parcels;  // for others
    bool leaves_node = false;
  };
  std::vector<Entry> entries;
  int64_t exchanges = 0;
  int64_t max_bytes = 1 << 20;  // of an entry; larger ones are not kept
  Domains domains;              // of the last transfer
  int64_t survey = -1;          // key of the last one with a grid
  std::vector<int64_t> starts;  // that all ranks told each other for it
  Reach reach;                  // of this rank's pieces in it
};

// What WRITER is to know of a route of RANK: the names of its parts, which are new with every commit, and the pieces.
struct Description {
  int writer = 0, rank = 0;
  std::vector<std::string> names;
  std::vector<std::byte> pieces;
};
// Of what a rank tells in all. A longer plan goes straight to those that take it, so that nobody holds those of many.
inline constexpr int64_t longest_short_plan = 64 << 10;
// Local.
Description describe_route(const std::vector<Part>& parts, const Domains& domains, const Route& route, int rank);

// Descriptions for one receiver, with each name once. Receivers may get several.
class Letter {
 public:
  void add(const Description& description);
  int64_t bytes() const;
  std::vector<std::byte> take();
  static Result<std::vector<Description>> read(std::span<const std::byte> letter, const Domains& domains);

 private:
  std::vector<std::string> names_;
  Encoder descriptions_;
};

// By receiver.
using Letters = std::map<int, std::vector<Letter>>;
void add(Letters& letters, int receiver, const Description& description);

// This rank's part of an exchange in DOMAINS.
class OwnExchange {
 public:
  // Local.
  OwnExchange(const Job& job, Domains domains, Ways ways, const PlanCache& cache);
  const Domains& domains() const { return domains_; }
  const Ways& ways() const { return ways_; }
  // Of the earlier exchange that this one would repeat, as far as this rank knows; -1 if there is none.
  int64_t number() const { return cached_ == nullptr ? -1 : cached_->number; }
  // Collective. The plan. REPEATS: all ranks have the same number. Otherwise one sparse exchange: each source tells
  // each of its writers the selections in the writer's domain. Pieces of many datasets with equal decomposition refer
  // to their common selection, which is told once; a box is told whole, runs are cut to the domain. Afterwards both
  // sides compute every message of every round themselves. With couriers, two sparse exchanges among the ranks of NODE
  // come first: each rank tells all to one courier if it is short, and this one tells the writers of the node, and the
  // couriers to others, which pass it on.
  Result<ExchangePlan> complete(const Job& job, const Communicator& node, bool repeats, PlanCache& cache) &&;

 private:
  Status tell(const Job& job, const Communicator& node, ExchangePlan& plan);

  Domains domains_;
  Ways ways_;
  std::vector<Route> routes_;
  Letters letters_;   // what this rank would tell
  uint64_t key_ = 0;  // of that and what it keeps
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
}  // namespace penstock
