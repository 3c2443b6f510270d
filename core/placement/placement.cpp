// Placement: the list of all.
#include "core/placement/placement.hpp"

#include "core/placement/placing.hpp"

namespace penstock {

std::span<const Placement* const> placements() {
  static const Placement* const all[] = {&single_placement(), &per_rank_placement(), &parts_placement(),
                                         &rank_order_placement()};
  return all;
}

const Placement* find_placement(std::string_view name) {
  for (const Placement* placement : placements())
    if (placement->describe().name == name) return placement;
  return nullptr;
}

}  // namespace penstock
