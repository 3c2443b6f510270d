// Routes: found in the domains, and copied window by window.
#include "core/transport/two_phase/routes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace penstock {

PieceList::PieceList(std::vector<Piece> pieces) {
  Lists lists;
  lists.reach.reserve(pieces.size());
  for (const Piece& piece : pieces)
    lists.reach.push_back(std::max(last_address(piece), lists.reach.empty() ? INT64_MIN : lists.reach.back()));
  lists.start.resize(pieces.size());
  int64_t lowest = INT64_MAX;
  for (size_t i = pieces.size(); i-- > 0;) lists.start[i] = lowest = std::min(lowest, first_address(pieces[i]));
  lists.pieces = std::move(pieces);
  lists_ = std::make_shared<const Lists>(std::move(lists));
}

std::span<const Piece> PieceList::near(AddressRange range) const {
  if (!lists_) return {};
  const std::vector<int64_t>&reach = lists_->reach, &start = lists_->start;
  const auto from = std::upper_bound(reach.begin(), reach.end(), range.begin) - reach.begin();
  const auto to = std::lower_bound(start.begin() + from, start.end(), range.end) - start.begin();
  return {lists_->pieces.begin() + from, lists_->pieces.begin() + to};
}

int64_t PieceList::bytes_in(const Window& window) const {
  int64_t bytes = 0;
  for (const AddressRange& range : window.ranges)
    for (const Piece& piece : near(range)) bytes += penstock::bytes_in(piece, range.begin, range.end);
  return bytes;
}

// Runs shared by many pieces count once; those of this rank's own pieces belong to the decomposition.
int64_t PieceList::bytes() const {
  std::set<const MemoryRun*> runs;
  auto bytes = static_cast<int64_t>(all().size() * (sizeof(Piece) + 2 * sizeof(int64_t)));
  for (const Piece& piece : all())
    if (!piece.selection.is_box() && runs.insert(piece.selection.runs().data()).second)
      bytes += static_cast<int64_t>(piece.selection.runs().size_bytes());
  return bytes;
}

Load load_of(const Parcel& parcel, const Window& window) {
  int64_t bytes = 0;
  for (const Client& client : parcel.clients) bytes += client.pieces.bytes_in(window);
  const int64_t all = window.bytes();
  return {std::min(bytes, all), bytes > all};
}

void copy_load(const PieceList& pieces, const Window& window, std::byte* data, bool image, Direction direction) {
  for (const AddressRange& range : window.ranges) {
    for (const Piece& piece : pieces.near(range)) {
      if (image)
        copy_window(piece, range, data, direction);
      else
        data = copy_packed(piece, range, data, direction);
    }
    if (image) data += range.end - range.begin;
  }
}

namespace {

// All writers with bytes of PIECE, and possibly others; in order.
std::set<int> writers_near(const Piece& piece, const Domains& domains) {
  std::set<int> writers;
  for (const AddressRange& places : domains.order.places_near(piece)) {
    const int last = domains.writer_at(places.end - 1);
    for (int w = domains.writer_at(places.begin); w <= last; ++w) writers.insert(w);
  }
  return writers;
}

}  // namespace

std::vector<Route> find_routes(std::vector<Piece> pieces, const Domains& domains) {
  std::erase_if(pieces, [](const Piece& piece) { return piece.selection.count() == 0 || piece.element_bytes == 0; });
  std::ranges::stable_sort(pieces, {}, &Piece::address);
  std::map<int, std::vector<Piece>> by_writer;
  std::map<int, std::vector<AddressRange>> owned;  // by writer, by address
  for (const Piece& piece : pieces)
    for (const int w : writers_near(piece, domains)) {
      const auto [known, is_new] = owned.try_emplace(w);
      std::vector<AddressRange>& its = known->second;
      if (is_new) {
        its = domains.domain_of(w).ranges;
        std::ranges::sort(its, {}, &AddressRange::begin);
      }
      const int64_t end = last_address(piece);
      auto range = std::ranges::upper_bound(its, first_address(piece), {}, &AddressRange::end);
      while (range != its.end() && range->begin < end && bytes_in(piece, range->begin, range->end) == 0) ++range;
      if (range != its.end() && range->begin < end) by_writer[w].push_back(piece);
    }
  std::vector<Route> routes;
  for (auto& [writer, list] : by_writer)
    routes.push_back({writer, domains.rank_of(writer), PieceList(std::move(list))});
  return routes;
}

}  // namespace penstock
