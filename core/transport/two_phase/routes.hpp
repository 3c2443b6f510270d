// Routes: which pieces of a rank go to which writer, and what a message holds of a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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

// Local. The routes of PIECES.
std::vector<Route> find_routes(std::vector<Piece> pieces, const Domains& domains);

}  // namespace penstock
