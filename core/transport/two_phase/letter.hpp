// Letters: what ranks tell writers of their routes, as selections and never as lists of offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/encode.hpp"
#include "core/transport/transport.hpp"
#include "core/transport/two_phase/domain.hpp"
#include "core/transport/two_phase/routes.hpp"

namespace penstock {

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

// The pieces of a description, and the parts that they are in.
struct Described {
  std::vector<Piece> pieces;
  std::vector<Part> parts;
};
Result<Described> decode_pieces(const Description& description);
Status cannot_decode();

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

}  // namespace penstock
