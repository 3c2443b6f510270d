// Rounds: the pieces of one rank in one part, divided into calls of bounded size.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "core/transport/move.hpp"

namespace penstock::mpiio {

// Whole elements of a piece that are contiguous in the file.
struct Stretch {
  const Piece* piece = nullptr;
  Slice slice;
  bool staged = false;  // in a round: it is packed on its way
  bool flat() const { return slice.stride == 1 && piece->swap_bytes <= 1; }
};

struct Limits {
  bool contiguous = false;       // a round is one contiguous run of the file
  bool stage_scattered = false;  // pack data that is scattered in memory, not only data to be byte-swapped
  int64_t runs = 0;              // entries of a type
  int64_t bytes = 0;             // of a round
  int64_t staged = 0;            // bytes of a round that are packed
  bool one_piece = false;        // a round belongs to one piece, and pieces go in order
};

// Stretches in ascending file order, without overlaps.
struct Round {
  std::vector<Stretch> stretches;
  int64_t bytes = 0;
  int64_t staged = 0;  // bytes of stretches that must be packed
  int64_t entries = 0;
  int64_t begin() const { return stretches.front().slice.address; }
  int64_t end() const { return stretches.back().slice.address + stretches.back().slice.bytes; }
  bool empty() const { return stretches.empty(); }
};

// Merges pieces in ascending address order; the state is one cursor for each piece that has begun.
class Merge {
 public:
  Merge(std::vector<const Piece*> pieces, int64_t begin, int64_t end);
  bool empty() const { return active_.empty() && set_aside_.empty(); }
  const Stretch& front();
  Stretch take();
  void put_back(Stretch stretch);

 private:
  struct Active {
    SliceCursor cursor;
    Stretch stretch;
  };
  void begin_pieces();
  bool aside_first() const;

  std::deque<const Piece*> later_;  // by first address
  int64_t begin_, end_;
  std::map<std::pair<int64_t, const Piece*>, Active> active_;
  std::deque<Stretch> set_aside_;  // ascending
};

class Rounds {
 public:
  // PIECES of one part. If ORDERED, a piece moves after all earlier pieces that it may overlap.
  Rounds(const std::vector<const Piece*>& pieces, const Part& part, const Limits& limits, bool ordered);
  bool next(Round& round);

 private:
  int64_t room(const Round& round, const Stretch& stretch) const;
  bool stages(const Stretch& stretch) const;
  bool goes_alone(const Stretch& stretch) const;
  void add(Round& round, int64_t elements);

  Limits limits_;
  int64_t begin_, end_;
  std::deque<Merge> groups_;
};

// The number of rounds; iterates over all of them.
int64_t count_rounds(Rounds rounds);

}  // namespace penstock::mpiio
