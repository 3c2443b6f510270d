// Reach: from pieces, and with settings to a cut.
#include "core/transport/two_phase/reach.hpp"

#include <algorithm>

#include "core/transport/move.hpp"

namespace penstock {

void Reach::add(const Reach& other) {
  begin = std::min(begin, other.begin);
  end = std::max(end, other.end);
  span = std::max(span, other.span);
}

Reach reach_of(std::span<const Piece> pieces) {
  Reach reach;
  double bytes = 0, spread = 0;
  for (const Piece& piece : pieces) {
    const auto own = static_cast<double>(piece.selection.count() * piece.element_bytes);
    if (own == 0) continue;
    const int64_t first = first_address(piece), last = last_address(piece);
    reach.begin = std::min(reach.begin, first);
    reach.end = std::max(reach.end, last);
    bytes += own;
    spread += static_cast<double>(last - first) * own;
  }
  if (bytes > 0) reach.span = static_cast<int64_t>(spread / bytes);
  return reach;
}

int64_t share_of_memory(const Settings& settings) { return settings.integer("memory_bytes") / 4; }

namespace {

int64_t window_bytes(const Settings& settings, int64_t nodes) {
  constexpr int64_t fits_caches = 3 << 20, fewer_rounds = 8 << 20;
  int64_t bytes = settings.integer("buffer_bytes");
  if (bytes == 0) bytes = nodes == 1 && settings.word("durability") == "none" ? fits_caches : fewer_rounds;
  return std::min(bytes, share_of_memory(settings) / 2);
}

}  // namespace

Cut make_cut(const Reach& all, const Settings& settings, int64_t nodes) {
  Cut cut;
  if (all.begin < all.end) {
    cut.begin = all.begin;
    cut.end = all.end;
  }
  cut.window = window_bytes(settings, nodes);
  cut.nodes = nodes;
  cut.writers = settings.integer("writers");
  cut.max_writers = settings.integer("max_concurrent_writers");
  cut.span = all.span;
  return cut;
}

}  // namespace penstock
