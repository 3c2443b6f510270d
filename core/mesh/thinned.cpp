// Thinned: compares the subsets of values and nodes, dimension by dimension.
#include "core/mesh/thinned.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/model/subset.hpp"

namespace penstock {
namespace {

// What is stored along one dimension: of each STEP points one, or their mean.
struct Along {
  int64_t start = 0, step = 1;
  bool mean = false;
  bool all = true;
  bool in_place() const { return start == 0 && step == 1; }
};

Along along(const Catalogue& catalogue, const std::string& dataset, int d) {
  const auto subset = subset_of(catalogue, dataset);
  if (!subset || d >= subset->step.rank() || d >= subset->start.rank()) return {};
  const Along some{subset->start[d], subset->step[d], subset->mean && subset->step[d] > 1};
  const Dataset* stored = catalogue.find(dataset);
  const bool all = some.in_place() && (subset->rows || stored == nullptr || stored->shape[d] == subset->shape[d]);
  return {some.start, some.step, some.mean, all};
}

// Values in cells belong to the cell that begins at a stored node.
bool fit(const Along& values, const Along& nodes, bool at_cells) {
  return values.start == nodes.start && values.step == nodes.step && (at_cells || values.mean == nodes.mean);
}

class Check {
 public:
  Check(const Catalogue& catalogue, const MeshWithValues& one) : catalogue_(catalogue), mesh_(one.mesh), one_(one) {}

  Status run() const {
    for (const Values& values : one_.values) PENSTOCK_TRY(check(values));
    if (mesh_.kind != MeshKind::unstructured) return {};
    for (const std::string& name : {mesh_.cells, mesh_.points}) PENSTOCK_TRY(check_all(name, 0));
    for (const std::string& name : mesh_.axes) PENSTOCK_TRY(check_all(name, 0));
    return {};
  }

 private:
  Along own(const Values& values, int d) const { return along(catalogue_, values.dataset->name, d); }

  Status check(const Values& values) const {
    const int dimensions = mesh_.dimensions;
    switch (mesh_.kind) {
      case MeshKind::uniform:
        for (int d = 0; d < dimensions; ++d) PENSTOCK_TRY(check_with(values, d, one_.values[0].dataset->name, d));
        return check_alike(values);
      case MeshKind::rectilinear:
        for (int d = 0; d < dimensions; ++d)
          PENSTOCK_TRY(check_with(values, d, mesh_.axes[static_cast<size_t>(dimensions - 1 - d)], 0));
        return {};
      case MeshKind::curvilinear:
        for (int d = 0; d < dimensions; ++d)
          for (const std::string& axis : mesh_.axes) PENSTOCK_TRY(check_with(values, d, axis, d));
        return {};
      case MeshKind::particles:
        for (const std::string& axis : mesh_.axes) PENSTOCK_TRY(check_with(values, 0, axis, 0));
        return mesh_.points.empty() ? Status() : check_with(values, 0, mesh_.points, 0);
      case MeshKind::blocks:
        for (int d = 1; d <= dimensions; ++d) PENSTOCK_TRY(check_all(values.dataset->name, d));
        return check_with(values, 0, mesh_.corners, 0);
      case MeshKind::unstructured: return check_all(values.dataset->name, 0);
    }
    return {};
  }

  Status check_with(const Values& values, int d, const std::string& other, int of_other) const {
    if (fit(own(values, d), along(catalogue_, other, of_other), values.at_cells)) return {};
    return {Code::invalid, fmt::format("'{}' is on mesh '{}', but the output profile stores other points of it than of "
                                       "'{}': give both the same 'every', 'mean' and 'box'",
                                       values.dataset->name, mesh_.name, other)};
  }

  // Values at nodes and in cells of a uniform mesh would begin at different places.
  Status check_alike(const Values& values) const {
    const Values& first = one_.values[0];
    bool in_place = true;
    for (int d = 0; d < mesh_.dimensions; ++d) in_place = in_place && own(first, d).in_place();
    const bool mean = own(values, mesh_.dimensions - 1).mean, same = mean == own(first, mesh_.dimensions - 1).mean;
    if (in_place || (values.at_cells == first.at_cells && same)) return {};
    return {Code::invalid,
            fmt::format("'{}' and '{}' are on the uniform mesh '{}', of which the output profile stores a part: that "
                        "is for values at nodes or in cells only, not for both",
                        first.dataset->name, values.dataset->name, mesh_.name)};
  }

  Status check_all(const std::string& dataset, int d) const {
    if (dataset.empty() || along(catalogue_, dataset, d).all) return {};
    return {Code::invalid,
            fmt::format("'{}' belongs to mesh '{}', which is {}: the output profile cannot store a part of it", dataset,
                        mesh_.name, mesh_.kind == MeshKind::blocks ? "of whole blocks" : "unstructured")};
  }

  const Catalogue& catalogue_;
  const Mesh& mesh_;
  const MeshWithValues& one_;
};

}  // namespace

void place_stored(const Catalogue& catalogue, const std::string& dataset, bool at_cells, std::vector<double>& origin,
                  std::vector<double>& spacing) {
  const auto subset = subset_of(catalogue, dataset);
  if (!subset) return;
  for (size_t i = 0; i < origin.size(); ++i) {
    const Along here = along(catalogue, dataset, static_cast<int>(i));
    // In units of the spacing: of a point, or of the middle of a block, and of the first edge of a cell there.
    const double width = static_cast<double>(here.step), middle = here.mean ? (width - 1) / 2 : 0;
    const double edge = middle + 0.5 - width / 2;
    origin[i] += (static_cast<double>(here.start) + (at_cells ? edge : middle)) * spacing[i];
    spacing[i] *= width;
  }
}

Status place_stored(const Catalogue& catalogue, MeshWithValues& one) {
  PENSTOCK_TRY(Check(catalogue, one).run());
  if (one.mesh.kind == MeshKind::uniform && !one.values.empty())
    place_stored(catalogue, one.values[0].dataset->name, one.values[0].at_cells, one.mesh.origin, one.mesh.spacing);
  return {};
}

}  // namespace penstock
