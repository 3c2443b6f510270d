// Placement rank_order: one file in which the blocks of each rank are together, in slots if the transport requires
// them.
#include <cstring>

#include <fmt/format.h>

#include "core/base/encode.hpp"
#include "core/placement/claims.hpp"
#include "core/placement/placing.hpp"

namespace penstock {
namespace {

// The blocks of this rank.
std::vector<Claim> cut_to_slots(const Placing& placing) {
  const int64_t most = placing.slots.payload > 0 ? placing.slots.payload : INT64_MAX;
  std::vector<Claim> blocks;
  for (const Claim& claim : placing.claims) {
    if (claim.selection.count() == 0) continue;
    for (Selection& piece : cut(claim.selection, bytes(placing.type(claim)), most))
      blocks.push_back({claim.dataset, std::move(piece), claim.memory});
  }
  return blocks;
}

std::vector<std::byte> pack(const std::vector<Claim>& claims) {
  Encoder out;
  out.value(std::ssize(claims));
  for (const Claim& claim : claims) {
    out.value(static_cast<int64_t>(claim.dataset));
    claim.selection.packed(0, INT64_MAX).encode(out);
  }
  return out.take();
}

Status unpack(std::span<const std::byte> bytes, std::vector<Claim>& claims) {
  Decoder in(bytes);
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    const auto dataset = static_cast<int>(in.value<int64_t>());
    claims.push_back({dataset, Selection::decode(in)});
  }
  return in.ok() ? Status() : Status(Code::internal, "the blocks of another rank cannot be decoded");
}

// Rank 0's view of the only file: the blocks of all ranks and their places.
struct RankOrder {
  std::vector<Claim> claims;   // of rank 0, then rank 1, ...
  std::vector<size_t> counts;  // of each rank
  std::vector<Place> places;
};

Result<Layout> lay_out_slots(const Placing& placing, const OwnPart& part) {
  const Slots& slots = placing.slots;
  Layout layout;
  for (const Dataset& dataset : part.catalogue.datasets) {
    if (bytes(dataset.type) > slots.payload)
      return Status(Code::unsupported, fmt::format("an element of '{}' is larger than the slots of {} bytes",
                                                   placing.catalogue->datasets[0].name, slots.payload));
    layout.blocks.push_back({0, layout.end + slots.header, false, Selection::whole(dataset.shape)});
    layout.end += slots.header + slots.payload;
  }
  return layout;
}

Result<Layout> lay_out_blocks(const Placing& placing, RankOrder& order) {
  const OwnPart part = one_part(*placing.catalogue, order.claims);
  PENSTOCK_ASSIGN(Layout layout, placing.slots.payload > 0 ? lay_out_slots(placing, part)
                                                           : placing.format->layout(part.catalogue, {placing.block()}));
  order.places.resize(order.claims.size());
  for (size_t k = 0; k < part.claims.size(); ++k)
    order.places[static_cast<size_t>(part.claims[k])] = Place(layout.blocks[k]);
  layout.blocks.clear();  // each rank receives its own
  return layout;
}

// Collective. Every rank learns the places of its own blocks.
Result<std::vector<Place>> deal_places(const Placing& placing, const RankOrder& order) {
  std::vector<Message> out;
  size_t at = 0;
  for (size_t rank = 0; rank < order.counts.size(); at += order.counts[rank++]) {
    const auto mine = std::as_bytes(std::span(order.places).subspan(at, order.counts[rank]));
    if (!mine.empty()) out.push_back({static_cast<int>(rank), {mine.begin(), mine.end()}});
  }
  PENSTOCK_ASSIGN(const auto in, placing.comm->sparse_exchange(std::move(out)));
  std::vector<Place> places;
  if (!in.empty()) {
    places.resize(in[0].bytes.size() / sizeof(Place));
    std::memcpy(places.data(), in[0].bytes.data(), in[0].bytes.size());
  }
  return places;
}

// The dataset and block that were meant for each slot.
void number_slots(const Slots& slots, Placed& placed) {
  const int64_t slot = slots.header + slots.payload;
  for (size_t d = 0; d < placed.contents.blocks.size(); ++d)
    for (size_t b = 0; b < placed.contents.blocks[d].size(); ++b) {
      const auto k = static_cast<size_t>(placed.contents.blocks[d][b].base / slot);
      if (placed.in_slot.size() <= k) placed.in_slot.resize(k + 1);
      placed.in_slot[k] = {d, b};
    }
}

class InRankOrder final : public Placement {
 public:
  const Descriptor& describe() const override { return descriptor_; }
  bool rank_order() const override { return true; }

  Result<Placed> place(const Placing& placing) const override {
    if (placing.supplied)
      return Status(Code::unsupported,
                    "placement=rank_order takes what is in memory, not what is supplied in pieces: name another "
                    "placement");
    const std::vector<Claim> mine = cut_to_slots(placing);
    PENSTOCK_ASSIGN(const auto all, placing.comm->gather(pack(mine), 0));
    RankOrder order;
    Placed placed;
    const auto files = share_files(placing, placed, [&]() -> Result<std::vector<PathAndLayout>> {
      for (const auto& one : all) {
        const size_t before = order.claims.size();
        PENSTOCK_TRY(unpack(one, order.claims));
        order.counts.push_back(order.claims.size() - before);
      }
      std::vector<PathAndLayout> only(1);
      only[0].first = placing.files->part("blocks");
      PENSTOCK_ASSIGN(only[0].second, lay_out_blocks(placing, order));
      return only;
    });
    PENSTOCK_TRY(files.status());
    PENSTOCK_ASSIGN(const auto places, deal_places(placing, order));
    for (size_t i = 0; i < mine.size(); ++i)
      placed.pieces.push_back(piece_of(places[i].block_of({}), placed.parts, placing.type(mine[i]),
                                       in_packed(mine[i].selection), mine[i].memory));
    begin_contents(placing, placed);
    for (size_t i = 0; i < order.claims.size(); ++i)
      placed.contents.blocks[static_cast<size_t>(order.claims[i].dataset)].push_back(
          order.places[i].block_of(order.claims[i].selection));
    if (placing.slots.payload > 0) number_slots(placing.slots, placed);
    PENSTOCK_TRY(
        agree(placing.comm, placing.comm->rank() == 0 ? check_counts(*placing.catalogue, placed.contents) : Status()));
    return placed;
  }

 private:
  Descriptor descriptor_{"rank_order", "one file in which each rank's blocks lie together, and an index", {}, ""};
};

}  // namespace

const Placement& rank_order_placement() {
  static const InRankOrder rank_order;
  return rank_order;
}

}  // namespace penstock
