// Survey: what the ranks tell each other of their boxes, and the grids that come of it.
#include "core/transport/two_phase/survey.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "core/base/crc64.hpp"
#include "core/model/catalogue.hpp"

namespace penstock {

namespace {

constexpr int64_t nothing = INT64_MIN;  // to a maximum

}  // namespace

int64_t Survey::Shape::bytes() const {
  int64_t bytes = 0;
  for (const NodeGrid::Field& field : fields) bytes += elements(shape) * field.element_bytes;
  return bytes;
}

bool Survey::Shape::has(int64_t address) const {
  const auto at = std::ranges::lower_bound(fields, address, {}, &NodeGrid::Field::address);
  return at != fields.end() && at->address == address;
}

void Survey::Shape::contain(const Box& box) {
  const bool is_first = end.empty();
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t box_end = box.start[d] + box.count[d];
    if (is_first) {
      start.push_back(box.start[d]);
      end.push_back(box_end);
    } else {
      start[d] = std::min(start[d], box.start[d]);
      end[d] = std::max(end[d], box_end);
    }
  }
}

Survey::Survey(std::span<const WholeDataset> datasets, std::span<const Piece> pieces) {
  std::unordered_set<int64_t> known;
  std::map<std::vector<int64_t>, size_t> numbers;  // of shapes
  for (const WholeDataset& one : datasets) {
    if (one.shape.empty() || elements(one.shape) == 0 || !known.insert(one.address).second) continue;
    const auto [at, is_new] = numbers.try_emplace({one.shape.begin(), one.shape.end()}, shapes_.size());
    if (is_new) shapes_.push_back({one.shape, {}, {}, {}});
    shapes_[at->second].fields.push_back({one.address, one.element_bytes});
  }
  for (Shape& shape : shapes_) std::ranges::sort(shape.fields, {}, &NodeGrid::Field::address);
  const auto order = [](const Shape& shape) { return std::pair(-shape.bytes(), shape.fields.front().address); };
  std::ranges::sort(shapes_, {}, order);
  if (shapes_.size() > most_shapes) shapes_.resize(most_shapes);
  for (const Piece& piece : pieces) {
    const Selection& part = piece.selection;
    if (!part.is_box() || part.count() == 0 || part.count() == elements(part.shape())) continue;
    for (Shape& shape : shapes_)
      if (shape.shape == part.shape() && shape.has(piece.address)) shape.contain(part.box());
  }
}

int64_t Survey::key(std::span<const Dims> cells) const {
  uint64_t key = 0;
  const auto add = [&](const auto& list) { key = crc64(std::as_bytes(std::span(list.begin(), list.end())), key); };
  for (const Shape& shape : shapes_) {
    add(shape.shape);
    add(shape.fields);
  }
  for (const Dims& dims : cells) add(dims);
  return static_cast<int64_t>(key >> 1);
}

namespace {

// In Bounds minus the start of a box is here, and its end follows; in Extents its extent, and minus its extent.
size_t place_of_pair(size_t shape, int d) { return 2 * (shape * max_rank + static_cast<size_t>(d)); }

// The numbers of cells, if their extents are from LEAST to MOST, from dimension D on, whose product is COUNT. CELLS has
// those before D.
bool find_cells(const Dims& shape, const Dims& least, const Dims& most, int64_t count, Dims& cells) {
  const int d = cells.rank();
  if (d == shape.rank()) return count == 1;
  for (int64_t n = (shape[d] + most[d] - 1) / most[d]; n <= std::min(shape[d] / least[d], count); ++n) {
    if (count % n != 0) continue;
    Dims longer = cells;
    longer.push_back(n);
    if (!find_cells(shape, least, most, count / n, longer)) continue;
    cells = longer;
    return true;
  }
  return false;
}

// Joins cells, those of the last dimension first, so that NODES nodes share one. False if they do not fit.
bool join(NodeGrid& grid, int64_t nodes) {
  for (int d = grid.shape.rank() - 1; d >= 0; --d) {
    const int64_t cells = grid.cells(d), step = std::min(cells, nodes);
    if (cells % step != 0 || nodes % step != 0) return false;
    std::vector<int64_t>& cuts = grid.cuts[static_cast<size_t>(d)];
    for (int64_t cell = 0; cell * step <= cells; ++cell)
      cuts[static_cast<size_t>(cell)] = cuts[static_cast<size_t>(cell * step)];
    cuts.resize(static_cast<size_t>(cells / step + 1));
    nodes /= step;
    if (nodes == 1) return true;
  }
  return false;
}

int64_t bytes_of(const std::vector<NodeGrid>& grids) {
  int64_t bytes = 0;
  for (const NodeGrid& grid : grids) bytes += grid.bytes();
  return bytes;
}

}  // namespace

Survey::Bounds Survey::bounds() const {
  Bounds bounds;
  bounds.fill(nothing);
  for (size_t s = 0; s < shapes_.size(); ++s)
    for (int d = 0; d < shapes_[s].end.rank(); ++d) {
      bounds[place_of_pair(s, d)] = -shapes_[s].start[d];
      bounds[place_of_pair(s, d) + 1] = shapes_[s].end[d];
    }
  return bounds;
}

// The last two are for what all ranks must have alike.
Survey::Extents Survey::extents(const Bounds& of_node) const {
  Extents extents;
  extents.fill(nothing);
  for (size_t s = 0; s < shapes_.size(); ++s)
    for (int d = 0; d < shapes_[s].shape.rank(); ++d) {
      const size_t at = place_of_pair(s, d);
      if (of_node[at] == nothing) continue;
      extents[at] = of_node[at + 1] + of_node[at];
      extents[at + 1] = -extents[at];
    }
  extents[extents.size() - 2] = shapes_.empty() ? -1 : key({});
  extents[extents.size() - 1] = -extents[extents.size() - 2];
  return extents;
}

std::vector<Dims> Survey::cells(const Extents& of_all, int64_t nodes) const {
  const int64_t key = of_all[of_all.size() - 2];
  if (key < 0 || key != -of_all[of_all.size() - 1]) return {};
  std::vector<Dims> cells(shapes_.size());
  for (size_t s = 0; s < shapes_.size(); ++s) {
    Dims least, most, found;
    if (of_all[place_of_pair(s, 0)] == nothing) continue;
    for (int d = 0; d < shapes_[s].shape.rank(); ++d) {
      most.push_back(of_all[place_of_pair(s, d)]);
      least.push_back(-of_all[place_of_pair(s, d) + 1]);
    }
    if (find_cells(shapes_[s].shape, least, most, nodes, found)) cells[s] = found;
  }
  return cells;
}

std::vector<int64_t> Survey::starts(std::span<const Dims> cells, const Bounds& of_node, int64_t node) const {
  std::vector<int64_t> starts;
  for (size_t s = 0; s < cells.size(); ++s) {
    int64_t number = node, count = elements(cells[s]);
    for (int d = 0; d < cells[s].rank(); ++d) {
      count /= cells[s][d];
      const size_t at = starts.size() + 2 * static_cast<size_t>(number / count);
      number %= count;
      starts.resize(starts.size() + 2 * static_cast<size_t>(cells[s][d]), nothing);
      if (of_node[place_of_pair(s, d)] == nothing) continue;
      starts[at] = -of_node[place_of_pair(s, d)];
      starts[at + 1] = -starts[at];
    }
  }
  return starts;
}

bool Survey::confirms(std::span<const Dims> cells, std::span<const int64_t> starts, const Bounds& of_node,
                      int64_t node) const {
  if (cells.size() != shapes_.size()) return false;
  for (size_t s = 0; s < cells.size(); ++s)
    if (!cells[s].empty() && cells[s].rank() != shapes_[s].shape.rank()) return false;
  const std::vector<int64_t> now = this->starts(cells, of_node, node);
  const auto agree = [](int64_t now, int64_t then) { return now == nothing || now == then; };
  return std::ranges::equal(now, starts, agree);
}

std::vector<NodeGrid> Survey::grids(std::span<const Dims> cells, std::span<const int64_t> of_all,
                                    RowsWanted rows) const {
  constexpr int64_t most_nodes = 8;  // in a cell: more would send parts of windows that are too small
  std::vector<NodeGrid> single;
  int64_t nodes = 1;
  for (size_t s = 0; s < cells.size(); ++s) {
    NodeGrid grid{shapes_[s].shape, {}, shapes_[s].fields};
    bool good = !cells[s].empty();
    for (int d = 0; d < cells[s].rank(); ++d) {
      std::vector<int64_t>& cuts = grid.cuts.emplace_back();
      for (int64_t cell = 0; cell < cells[s][d]; ++cell) {
        good = good && of_all[0] >= 0 && of_all[0] == -of_all[1] && (cuts.empty() || of_all[0] > cuts.back());
        cuts.push_back(of_all[0]);
        of_all = of_all.subspan(2);
      }
      good = good && cuts.front() == 0 && cuts.back() < grid.shape[d];
      cuts.push_back(grid.shape[d]);
    }
    if (!good) continue;
    nodes = grid.cell_count();
    single.push_back(std::move(grid));
  }
  for (int64_t joined = 1; joined <= std::min(most_nodes, nodes - 1); ++joined) {
    std::vector<NodeGrid> found;
    for (NodeGrid grid : single) {
      if (!join(grid, joined)) continue;
      std::erase_if(grid.fields, [&](const NodeGrid::Field& field) { return !rows.suit(grid, field); });
      if (!grid.fields.empty()) found.push_back(std::move(grid));
    }
    if (found.empty() || 2 * bytes_of(found) < bytes_of(single)) continue;
    const bool as_in_file = found.size() == 1 && found[0].fields.size() == 1 && found[0].row_dimension() == 0;
    return as_in_file ? std::vector<NodeGrid>() : found;
  }
  return {};
}

}  // namespace penstock
