// Placements single and parts: files known to all ranks, laid out by rank 0.
#include <algorithm>

#include <fmt/format.h>

#include "core/session/prepare.hpp"

namespace penstock {
namespace {

// Collective. The number of nodes by default.
Result<int> part_count(const File::State& state) {
  const int64_t chosen = state.plan.settings.integer("parts");
  if (chosen > 0) return static_cast<int>(std::min<int64_t>(chosen, 1 << 20));
  int64_t nodes = state.comm->node_rank() == 0 ? 1 : 0;
  PENSTOCK_TRY(state.comm->all_reduce_sum(std::span(&nodes, 1)));
  return static_cast<int>(nodes);
}

}  // namespace

Status prepare_single(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                      std::span<std::byte* const> memory, Output& output) {
  const Alignment alignment{state.plan.settings.integer("block")};
  PENSTOCK_ASSIGN(
      const auto parts, share_parts(state, output, [&](std::vector<SharedPart>& all) -> Status {
        PENSTOCK_ASSIGN(Layout layout, state.format->layout(catalogue, alignment));
        all.push_back({state.format->self_contained() ? output.partial : part_path(state, ""), std::move(layout)});
        return {};
      }));
  const std::vector<Layout::Place>& places = parts[0].layout.places;
  for (size_t i = 0; i < claims.size(); ++i) {
    const auto d = static_cast<size_t>(claims[i].dataset);
    add_piece(output, 0, places[d], catalogue.datasets[d].type, claims[i].selection, memory[i]);
  }
  begin_contents(state, catalogue, output);
  for (size_t d = 0; d < catalogue.datasets.size(); ++d)
    output.contents.blocks[d].push_back(
        {0, places[d].base, places[d].swapped, Selection::whole(catalogue.datasets[d].shape), places[d].row_stride});
  return {};
}

Status prepare_slabs(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                     std::span<std::byte* const> memory, Output& output) {
  PENSTOCK_ASSIGN(const int count, part_count(state));
  const std::vector<std::vector<Claim>> held = slabs(catalogue, count);
  const Alignment alignment{state.plan.settings.integer("block")};
  PENSTOCK_ASSIGN(const auto parts, share_parts(state, output, [&](std::vector<SharedPart>& all) -> Status {
                    for (size_t p = 0; p < held.size(); ++p) {
                      const OwnPart part = one_part(catalogue, held[p]);
                      PENSTOCK_ASSIGN(Layout layout, state.format->layout(part.catalogue, alignment));
                      all.push_back({part_path(state, fmt::format("part{:06d}", p)), std::move(layout)});
                    }
                    return {};
                  }));
  begin_contents(state, catalogue, output);
  std::vector<std::vector<size_t>> claims_of(catalogue.datasets.size());
  for (size_t i = 0; i < claims.size(); ++i) claims_of[static_cast<size_t>(claims[i].dataset)].push_back(i);
  for (size_t p = 0; p < held.size(); ++p)
    for (size_t k = 0; k < held[p].size(); ++k) {  // sorted by dataset, like the part's catalogue
      const auto d = static_cast<size_t>(held[p][k].dataset);
      const Layout::Place& place = parts[p].layout.places[k];
      const auto part = static_cast<int32_t>(p);
      output.contents.blocks[d].push_back({part, place.base, place.swapped, held[p][k].selection});
      for (const size_t i : claims_of[d])
        if (auto common = intersect(claims[i].selection, held[p][k].selection))
          add_piece(output, part, place, catalogue.datasets[d].type, *std::move(common), memory[i]);
    }
  return {};
}

}  // namespace penstock
