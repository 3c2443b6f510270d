// Domains: arithmetic of the division.
#include "core/transport/two_phase/domain.hpp"

#include <algorithm>
#include <bit>

#include "core/base/units.hpp"

namespace penstock {
namespace {

constexpr int64_t min_domain = 2 << 20;  // below this a writer's open, sync and close cost more than its writing

int64_t count(const std::vector<std::vector<int>>& candidates) {
  int64_t sum = 0;
  for (const std::vector<int>& of_node : candidates) sum += std::ssize(of_node);
  return sum;
}

int64_t choose_writers(const Cut& cut, int64_t bytes) {
  const int64_t most = cut.candidates.empty() ? cut.nodes * most_candidates : count(cut.candidates);
  int64_t writers = std::min(bytes / min_domain, most);
  const int64_t met = std::max<int64_t>(most_candidates, std::bit_width(static_cast<uint64_t>(cut.ranks)));
  if (cut.span > 0) writers = std::min(writers, static_cast<int64_t>(static_cast<__int128>(bytes) * met / cut.span));
  return writers;
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

std::vector<int> candidates_among(const std::vector<int>& ranks) {
  const auto all = std::ssize(ranks), count = std::min<int64_t>(all, most_candidates);
  std::vector<int> candidates;
  for (int64_t i = 0; i < count; ++i) candidates.push_back(ranks[static_cast<size_t>(spread(i, all, count))]);
  return candidates;
}

int64_t Domains::cut(int writer) const {
  const auto share = static_cast<int64_t>(static_cast<__int128>(end - begin) * writer / writers);
  return std::min(end, begin + round_up(share, block));
}

int Domains::writer_at(int64_t address) const {
  int writer = static_cast<int>(static_cast<__int128>(address - begin) * writers / std::max<int64_t>(end - begin, 1));
  while (writer > 0 && address < cut(writer)) --writer;
  while (writer + 1 < writers && address >= cut(writer + 1)) ++writer;
  return writer;
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

int64_t Domains::largest_domain() const {
  int64_t largest = 0;
  for (int w = 0; w < writers; ++w) largest = std::max(largest, cut(w + 1) - cut(w));
  return largest;
}

AddressRange Domains::range(int writer, int64_t round) const {
  const int64_t begin = cut(writer) + round * window, end = cut(writer + 1);
  return {std::min(begin, end), std::min(begin + window, end)};
}

Domains cut_domains(const Cut& cut) {
  Domains d;
  d.begin = cut.begin / cut.block * cut.block;
  d.end = std::max(round_up(cut.end, cut.block), d.begin);
  d.block = cut.block;
  d.ranks = cut.ranks;
  int64_t writers = cut.writers > 0 ? cut.writers : choose_writers(cut, d.end - d.begin);
  if (cut.max_writers > 0) writers = std::min(writers, cut.max_writers);
  d.writers = static_cast<int>(std::clamp<int64_t>(writers, 1, cut.ranks));
  d.window = std::max(cut.block, round_up(cut.window, cut.block));
  if (d.writers <= count(cut.candidates)) d.writer_ranks = spread_over_nodes(d.writers, cut.candidates);
  return d;
}

}  // namespace penstock
