// Placement rank_order: one file in which the blocks of each rank are together, in slots if the transport requires
// them.
#include <cstring>

#include <fmt/format.h>

#include "core/base/encode.hpp"
#include "core/session/prepare.hpp"

namespace penstock {
namespace {

// The blocks of one rank under rank_order.
struct Blocks {
  std::vector<Claim> claims;
  std::vector<std::byte*> memory;
};

Blocks cut_to_slots(const Catalogue& catalogue, std::span<const Claim> claims, std::span<std::byte* const> memory,
                    const Slots& slots) {
  Blocks blocks;
  for (size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].selection.count() == 0) continue;
    const int64_t size = bytes(catalogue.datasets[static_cast<size_t>(claims[i].dataset)].type);
    for (Selection& piece : cut(claims[i].selection, size, slots.payload > 0 ? slots.payload : INT64_MAX)) {
      blocks.claims.push_back({claims[i].dataset, std::move(piece)});
      blocks.memory.push_back(memory[i]);
    }
  }
  return blocks;
}

std::vector<std::byte> pack(const std::vector<Claim>& claims) {
  Encoder out;
  out.value(static_cast<int64_t>(claims.size()));
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

// Rank 0's view of the only part: the blocks of all ranks and their locations.
struct RankOrder {
  std::vector<Claim> claims;   // of rank 0, then rank 1, ...
  std::vector<size_t> counts;  // of each rank
  std::vector<Layout::Place> places;
};

Result<Layout> lay_out_slots(const Catalogue& catalogue, const OwnPart& part, const Slots& slots) {
  Layout layout;
  for (size_t k = 0; k < part.claims.size(); ++k) {
    const ElementType& type = part.catalogue.datasets[k].type;
    if (bytes(type) > slots.payload)
      return Status(Code::unsupported, fmt::format("an element of '{}' is larger than the slots of {} bytes",
                                                   catalogue.datasets[0].name, slots.payload));
    layout.places.push_back({layout.end + slots.header, false});
    layout.end += slots.header + slots.payload;
  }
  return layout;
}

Result<Layout> lay_out_blocks(File::State& state, const Catalogue& catalogue, const Slots& slots, RankOrder& order) {
  const OwnPart part = one_part(catalogue, order.claims);
  PENSTOCK_ASSIGN(Layout layout,
                  slots.payload > 0
                      ? lay_out_slots(catalogue, part, slots)
                      : state.format->layout(part.catalogue, Alignment{state.plan.settings.integer("block")}));
  order.places.resize(order.claims.size());
  for (size_t k = 0; k < part.claims.size(); ++k) order.places[static_cast<size_t>(part.claims[k])] = layout.places[k];
  layout.places.clear();  // each rank receives its own
  return layout;
}

// Collective. Every rank learns the locations of its own blocks.
Result<std::vector<Layout::Place>> deal_places(const File::State& state, const RankOrder& order) {
  std::vector<Message> out;
  size_t at = 0;
  for (size_t rank = 0; rank < order.counts.size(); at += order.counts[rank++]) {
    const auto mine = std::as_bytes(std::span(order.places).subspan(at, order.counts[rank]));
    if (!mine.empty()) out.push_back({static_cast<int>(rank), {mine.begin(), mine.end()}});
  }
  PENSTOCK_ASSIGN(const auto in, state.comm->sparse_exchange(std::move(out)));
  std::vector<Layout::Place> places;
  if (!in.empty()) {
    places.resize(in[0].bytes.size() / sizeof(Layout::Place));
    std::memcpy(places.data(), in[0].bytes.data(), in[0].bytes.size());
  }
  return places;
}

// The requested dataset and block of each slot.
void number_slots(Output& output) {
  const int64_t slot = output.slots.header + output.slots.payload;
  for (size_t d = 0; d < output.contents.blocks.size(); ++d)
    for (size_t b = 0; b < output.contents.blocks[d].size(); ++b) {
      const auto k = static_cast<size_t>(output.contents.blocks[d][b].base / slot);
      if (output.in_slot.size() <= k) output.in_slot.resize(k + 1);
      output.in_slot[k] = {d, b};
    }
}

}  // namespace

Status prepare_rank_order(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                          std::span<std::byte* const> memory, Output& output) {
  output.slots = state.transport->slots(state.plan.settings);
  const Blocks mine = cut_to_slots(catalogue, claims, memory, output.slots);
  const auto packed = pack(mine.claims);
  PENSTOCK_ASSIGN(const auto all, state.comm->gather(packed, 0));
  RankOrder order;
  PENSTOCK_ASSIGN(const auto parts, share_parts(state, output, [&](std::vector<SharedPart>& shared) -> Status {
                    for (const auto& one : all) {
                      const size_t before = order.claims.size();
                      PENSTOCK_TRY(unpack(one, order.claims));
                      order.counts.push_back(order.claims.size() - before);
                    }
                    PENSTOCK_ASSIGN(Layout layout, lay_out_blocks(state, catalogue, output.slots, order));
                    shared.push_back({part_path(state, "blocks"), std::move(layout)});
                    return {};
                  }));
  PENSTOCK_ASSIGN(const auto places, deal_places(state, order));
  for (size_t i = 0; i < mine.claims.size(); ++i)
    add_piece(output, 0, places[i], catalogue.datasets[static_cast<size_t>(mine.claims[i].dataset)].type,
              in_packed(mine.claims[i].selection), mine.memory[i]);
  begin_contents(state, catalogue, output);
  for (size_t i = 0; i < order.claims.size(); ++i)
    output.contents.blocks[static_cast<size_t>(order.claims[i].dataset)].push_back(
        {0, order.places[i].base, order.places[i].swapped, order.claims[i].selection});
  if (output.slots.payload > 0) number_slots(output);
  return agree(state.comm, state.comm->rank() == 0 ? check_counts(catalogue, output.contents) : Status());
}

}  // namespace penstock
