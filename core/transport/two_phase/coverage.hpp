// Coverage: which bytes of a window are in pieces.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/transport/move.hpp"

namespace penstock {

// A stretch of a window from the first to the last byte that is in pieces. With GAPS some bytes between are in none.
struct Stretch {
  AddressRange range;
  bool gaps = false;
};

class Coverage {
 public:
  explicit Coverage(AddressRange window);
  void add(const Piece& piece);
  // Whether any byte is in two of the pieces, or twice in one.
  bool overlaps() const;
  // In ascending order. Between two stretches at least BRIDGE bytes are in no piece.
  std::vector<Stretch> stretches(int64_t bridge) const;

 private:
  // The first byte from AT on that is in a piece, or with IN=false in none; the window's size if there is none.
  int64_t find(int64_t at, bool in) const;

  AddressRange window_;
  int64_t bytes_ = 0;           // of all pieces
  std::vector<uint64_t> bits_;  // one for each byte
};

}  // namespace penstock
