// Domains: arithmetic of the division.
#include "core/transport/two_phase/domain.hpp"

#include <algorithm>
#include <bit>

#include "core/base/units.hpp"

namespace penstock {
namespace {

constexpr int64_t min_domain = 2 << 20;  // below this a writer's open, sync and close cost more than its writing
// Of one file: to open and close it keeps a metadata server for seconds. Beyond, a node has fewer, but one at least.
constexpr int64_t many_writers = 4096;

int64_t count(const std::vector<std::vector<int>>& candidates) {
  int64_t sum = 0;
  for (const std::vector<int>& of_node : candidates) sum += std::ssize(of_node);
  return sum;
}

int64_t choose_writers(const Cut& cut, int64_t bytes) {
  const int64_t most = cut.candidates.empty() ? cut.nodes * most_candidates : count(cut.candidates);
  int64_t writers = std::min({bytes / min_domain, most, std::max(cut.nodes, many_writers)});
  const int64_t met = std::max<int64_t>(most_candidates, std::bit_width(static_cast<uint64_t>(cut.ranks)));
  if (cut.span > 0) writers = std::min(writers, static_cast<int64_t>(static_cast<__int128>(bytes) * met / cut.span));
  return writers;
}

int64_t number_of_writers(const Cut& cut, int64_t bytes) {
  int64_t writers = cut.writers > 0 ? cut.writers : choose_writers(cut, bytes);
  if (cut.max_writers > 0) writers = std::min(writers, cut.max_writers);
  return std::clamp<int64_t>(writers, 1, cut.ranks);
}

// Number I of COUNT numbers spread evenly over ALL.
int spread(int64_t i, int64_t all, int64_t count) { return static_cast<int>(i * all / count); }

// WRITERS of the candidates, node after node. Each node gets one, then each a second one, while it has candidates.
std::vector<int> spread_over_nodes(int64_t writers, const std::vector<std::vector<int>>& candidates) {
  std::vector<int64_t> counts(candidates.size());
  for (int64_t left = writers, turn = 0; left > 0; ++turn) {
    std::vector<size_t> able;
    for (size_t node = 0; node < candidates.size(); ++node)
      if (std::ssize(candidates[node]) > turn) able.push_back(node);
    const int64_t now = std::min(left, std::ssize(able));
    for (int64_t i = 0; i < now; ++i) ++counts[able[static_cast<size_t>(spread(i, std::ssize(able), now))]];
    left -= now;
  }
  std::vector<int> chosen;
  for (size_t node = 0; node < candidates.size(); ++node)
    for (int64_t i = 0; i < counts[node]; ++i)
      chosen.push_back(candidates[node][static_cast<size_t>(spread(i, std::ssize(candidates[node]), counts[node]))]);
  return chosen;
}

}  // namespace

RowsWanted rows_wanted(const Cut& cut) { return {std::max(cut.block, cut.window / rows_in_window), cut.block}; }

std::vector<int> candidates_among(const std::vector<int>& ranks) {
  const auto all = std::ssize(ranks), count = std::min<int64_t>(all, most_candidates);
  std::vector<int> candidates;
  for (int64_t i = 0; i < count; ++i) candidates.push_back(ranks[static_cast<size_t>(spread(i, all, count))]);
  return candidates;
}

int64_t Domains::cut(int writer) const {
  if (!order.any()) {
    const auto share = static_cast<int64_t>(static_cast<__int128>(end - begin) * writer / writers);
    return std::min(end, begin + round_up(share, block));
  }
  const int64_t all = order.cells() * writer, cell = all / writers, part = all % writers, first = order.start_of(cell);
  if (part == 0) return first;
  const int64_t places = order.start_of(cell + 1) - first;
  const auto share = static_cast<int64_t>(static_cast<__int128>(places) * part / writers);
  return first + std::min(places, round_up(share, block));
}

int Domains::writer_at(int64_t place) const {
  int low = 0, high = writers;  // low <= the writer < high
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (cut(middle) <= place ? low : high) = middle;
  }
  return low;
}

int Domains::rank_of(int writer) const {
  return writer_ranks.empty() ? spread(writer, ranks, writers) : writer_ranks[static_cast<size_t>(writer)];
}

int Domains::writer_of(int rank) const {
  if (!writer_ranks.empty()) {
    const auto found = std::ranges::find(writer_ranks, rank);
    return found == writer_ranks.end() ? -1 : static_cast<int>(found - writer_ranks.begin());
  }
  const int writer = static_cast<int>((int64_t{rank} * writers + ranks - 1) / ranks);
  return writer < writers && rank_of(writer) == rank ? writer : -1;
}

int64_t Window::bytes() const {
  int64_t bytes = 0;
  for (const AddressRange& range : ranges) bytes += range.end - range.begin;
  return bytes;
}

Window Domains::window_of(int writer, int64_t round) const {
  const int64_t first = cut(writer) + round * step, last = cut(writer + 1);
  return window_at({std::min(first, last), std::min(first + step, last)});
}

Window Domains::window_at(AddressRange places) const {
  Window window;
  if (places.begin >= places.end) return window;
  window.ranges = order.addresses(places);
  if (!order.any()) return window;
  for (AddressRange& range : window.ranges)
    range = {round_up(range.begin, block), std::min(round_up(range.end, block), end)};
  std::erase_if(window.ranges, [](const AddressRange& range) { return range.begin >= range.end; });
  return window;
}

AddressRange Domains::reach_of(int writer) const {
  if (!order.any()) return {cut(writer), cut(writer + 1)};
  AddressRange reach{end, begin};
  for (const AddressRange& range : domain_of(writer).ranges)
    reach = {std::min(reach.begin, range.begin), std::max(reach.end, range.end)};
  return reach;
}

namespace {

// Divides by cells, if that leaves each cell a writer, and each round at least half a window.
void divide_by_cells(Domains& d, Cut cut) {
  Domains divided = d;
  divided.order = Order({d.begin, d.end}, std::move(cut.grids), d.block);
  if (!divided.order.is_sound()) return;
  if (!divided.order.is_aligned()) {
    const int64_t row = divided.order.shortest_row();
    divided.row = row;
    divided.ends = divided.order.cut_gaps() + 2;
    const int64_t rest = d.window - divided.ends * d.block;
    divided.step = static_cast<int64_t>(static_cast<__int128>(rest) * row / (row + d.block)) / d.block * d.block;
  }
  cut.span = (d.end - d.begin) / divided.order.cells();
  divided.writers = static_cast<int>(number_of_writers(cut, d.end - d.begin));
  if (divided.writers >= divided.order.cells() && 2 * divided.step >= d.window) d = std::move(divided);
}

}  // namespace

Domains cut_domains(const Cut& cut) {
  Domains d;
  d.begin = cut.begin / cut.block * cut.block;
  d.end = std::max(round_up(cut.end, cut.block), d.begin);
  d.block = cut.block;
  d.ranks = cut.ranks;
  d.writers = static_cast<int>(number_of_writers(cut, d.end - d.begin));
  d.window = d.step = std::max(cut.block, round_up(cut.window, cut.block));
  if (!cut.grids.empty()) divide_by_cells(d, cut);
  for (int w = 0; w < d.writers; ++w) d.largest_domain = std::max(d.largest_domain, d.cut(w + 1) - d.cut(w));
  if (d.writers <= count(cut.candidates)) d.writer_ranks = spread_over_nodes(d.writers, cut.candidates);
  return d;
}

}  // namespace penstock
