// Domains: arithmetic of the cut.
#include "core/transport/two_phase/domain.hpp"

#include <algorithm>

namespace penstock {
namespace {

constexpr int64_t least_domain = 2 << 20;  // below this a writer's own open, sync and close cost more than its writing
constexpr int64_t most_in_flight = 256 << 20;  // over all windows of one round, which one rank may have to fill alone

int64_t round_up(int64_t n, int64_t block) { return (n + block - 1) / block * block; }

}  // namespace

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

int Domains::rank_of(int writer) const { return static_cast<int>(int64_t{writer} * ranks / writers); }

int Domains::writer_of(int rank) const {
  const int writer = static_cast<int>((int64_t{rank} * writers + ranks - 1) / ranks);
  return writer < writers && rank_of(writer) == rank ? writer : -1;
}

int64_t Domains::rounds() const {
  int64_t largest = 0;
  for (int w = 0; w < writers; ++w) largest = std::max(largest, cut(w + 1) - cut(w));
  return (largest + window - 1) / window;
}

int64_t Domains::window_begin(int writer, int64_t round) const {
  return std::min(cut(writer) + round * window, cut(writer + 1));
}

Domains cut_domains(int64_t begin, int64_t end, int64_t block, int64_t window, int writers, int ranks) {
  Domains d;
  d.begin = begin / block * block;
  d.end = std::max(round_up(end, block), d.begin);
  d.block = block;
  d.ranks = ranks;
  const int64_t bytes = d.end - d.begin;
  const int64_t wanted = writers > 0 ? writers : std::max<int64_t>(1, bytes / least_domain);
  d.writers = static_cast<int>(std::min<int64_t>(wanted, ranks));
  d.window = std::max(block, round_up(std::min(window, most_in_flight / d.writers), block));
  return d;
}

}  // namespace penstock
