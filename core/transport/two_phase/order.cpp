// Order: arithmetic of cells, and what a survey finds.
#include "core/transport/two_phase/order.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_set>

#include "core/base/crc64.hpp"

namespace penstock {
namespace {

int64_t product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies()); }

int64_t elements_after(const Dims& shape, int dimension) {
  return std::accumulate(shape.begin() + dimension + 1, shape.end(), int64_t{1}, std::multiplies());
}

// The last dimension that is divided: from there on a row of a cell is contiguous. 0 if none is.
int row_dimension(const NodeGrid& grid) {
  int d = grid.cells.rank() - 1;
  while (d > 0 && grid.cells[d] == 1) --d;
  return d;
}

int64_t cut(const NodeGrid& grid, int d, int64_t cell) {
  return static_cast<int64_t>(static_cast<__int128>(grid.shape[d]) * cell / grid.cells[d]);
}

// The cell along dimension D that has INDEX.
int64_t cell_with(const NodeGrid& grid, int d, int64_t index) {
  auto cell = static_cast<int64_t>(static_cast<__int128>(index) * grid.cells[d] / grid.shape[d]);
  while (cell + 1 < grid.cells[d] && index >= cut(grid, d, cell + 1)) ++cell;
  return cell;
}

int64_t number_of(const NodeGrid& grid, const Dims& cell) {
  int64_t number = 0;
  for (int d = 0; d < cell.rank(); ++d) number = number * grid.cells[d] + cell[d];
  return number;
}

// Elements in all cells before number CELL.
int64_t elements_before(const NodeGrid& grid, int64_t cell) {
  int64_t before = 0, row_of_cells = grid.cell_count(), extents = 1;
  if (cell >= row_of_cells) return product(grid.shape);
  for (int d = 0; d < grid.cells.rank(); ++d) {
    row_of_cells /= grid.cells[d];
    const int64_t at = cell / row_of_cells;
    cell %= row_of_cells;
    before += extents * cut(grid, d, at) * elements_after(grid.shape, d);
    extents *= cut(grid, d, at + 1) - cut(grid, d, at);
  }
  return before;
}

int64_t element_bytes(const NodeGrid& grid) {
  int64_t bytes = 0;
  for (const NodeGrid::Field& field : grid.fields) bytes += field.element_bytes;
  return bytes;
}

void add(std::vector<AddressRange>& list, AddressRange range) {
  if (range.begin >= range.end) return;
  if (!list.empty() && list.back().end == range.begin)
    list.back().end = range.end;
  else
    list.push_back(range);
}

// One cell of a grid: a box.
struct CellBox {
  CellBox(const NodeGrid& of, int64_t number) : grid(of), dimension(row_dimension(of)) {
    int64_t cells = of.cell_count();
    for (int d = 0; d < of.shape.rank(); ++d) {
      cells /= of.cells[d];
      const int64_t at = number / cells;
      number %= cells;
      start.push_back(cut(of, d, at));
      extent.push_back(cut(of, d, at + 1) - start[d]);
    }
    inner = elements_after(of.shape, dimension);
  }

  int64_t elements() const { return product(extent); }
  int64_t row() const { return extent[dimension] * inner; }

  // The offset in the dataset of element NUMBER of the cell.
  int64_t offset_of(int64_t number) const {
    int64_t rest = number / row(), stride = inner, offset = start[dimension] * inner + number % row();
    for (int d = dimension - 1; d >= 0; --d) {
      stride *= grid.shape[d + 1];
      offset += (start[d] + rest % extent[d]) * stride;
      rest /= extent[d];
    }
    return offset;
  }

  // The number in the cell of the element with INDEX.
  int64_t number_of(const Dims& index) const {
    int64_t number = 0;
    for (int d = 0; d < extent.rank(); ++d) number = number * extent[d] + index[d] - start[d];
    return number;
  }

  const NodeGrid& grid;
  int dimension;  // of rows
  Dims start, extent;
  int64_t inner = 1;  // elements for each step of DIMENSION
};

// Of FIELD's bytes in CELL those from number FIRST to LAST.
void add_rows(const CellBox& cell, const NodeGrid::Field& field, int64_t first, int64_t last,
              std::vector<AddressRange>& list) {
  const int64_t size = field.element_bytes, row = cell.row() * size;
  while (first < last) {
    const int64_t length = std::min(last - first, row - first % row);
    const int64_t address = field.address + cell.offset_of(first / size) * size + first % size;
    add(list, {address, address + length});
    first += length;
  }
}

}  // namespace

int64_t NodeGrid::cell_count() const { return product(cells); }
int64_t NodeGrid::bytes() const { return product(shape) * element_bytes(*this); }
int64_t NodeGrid::bytes(const Field& field) const { return product(shape) * field.element_bytes; }

int64_t NodeGrid::shortest_row(const Field& field) const {
  const int d = row_dimension(*this);
  return shape[d] / cells[d] * elements_after(shape, d) * field.element_bytes;
}

bool NodeGrid::is_aligned(const Field& field, int64_t block) const {
  const int d = row_dimension(*this);
  return field.address % block == 0 && shape[d] % cells[d] == 0 && shortest_row(field) % block == 0;
}

bool RowsWanted::suit(const NodeGrid& grid, const NodeGrid::Field& field) const {
  return grid.shortest_row(field) >= (grid.is_aligned(field, block) ? least : std::max(least, 2 * block));
}

Order::Order(AddressRange all, std::vector<NodeGrid> grids) : all_(all), grids_(std::move(grids)) {
  for (size_t g = 0; g < grids_.size(); ++g) {
    int64_t before = 0;
    for (const NodeGrid::Field& field : grids_[g].fields) {
      fields_.push_back({field, g, before});
      before += field.element_bytes;
    }
  }
  std::ranges::sort(fields_, {}, [](const Known& known) { return known.field.address; });
  int64_t at = all.begin;
  for (const Known& known : fields_) {
    const int64_t bytes = grids_[known.grid].bytes(known.field);
    add(gaps_, {at, known.field.address});
    at = known.field.address + bytes;
    in_cells_ += bytes;
  }
  add(gaps_, {at, all.end});
}

int64_t Order::shortest_row() const {
  int64_t shortest = INT64_MAX;
  for (const NodeGrid& grid : grids_)
    for (const NodeGrid::Field& field : grid.fields) shortest = std::min(shortest, grid.shortest_row(field));
  return shortest;
}

bool Order::is_aligned(int64_t block) const {
  return std::ranges::all_of(grids_, [&](const NodeGrid& grid) {
    return std::ranges::all_of(grid.fields,
                               [&](const NodeGrid::Field& field) { return grid.is_aligned(field, block); });
  });
}

int64_t Order::cut_gaps(int64_t block) const {
  return std::ranges::count_if(gaps_, [&](const AddressRange& gap) { return gap.end % block != 0; });
}

int64_t Order::start_of(int64_t cell) const {
  int64_t place = all_.begin;
  for (const NodeGrid& grid : grids_) place += elements_before(grid, cell) * element_bytes(grid);
  return place;
}

int64_t Order::start_of(int64_t cell, const Known& known) const {
  int64_t place = start_of(cell);
  for (size_t g = 0; g < known.grid; ++g) place += CellBox(grids_[g], cell).elements() * element_bytes(grids_[g]);
  return place + CellBox(grids_[known.grid], cell).elements() * known.before;
}

std::vector<AddressRange> Order::addresses(AddressRange places) const {
  if (!any()) return {places};
  std::vector<AddressRange> found;
  int64_t low = 0, high = cells();  // the cell with the first place: low <= it < high
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (start_of(middle) <= places.begin ? low : high) = middle;
  }
  int64_t at = start_of(low);
  for (int64_t number = low; number < cells() && at < places.end; ++number)
    for (const NodeGrid& grid : grids_) {
      const CellBox cell(grid, number);
      for (const NodeGrid::Field& field : grid.fields) {
        const int64_t bytes = cell.elements() * field.element_bytes;
        add_rows(cell, field, std::max<int64_t>(places.begin - at, 0), std::min(places.end - at, bytes), found);
        at += bytes;
      }
    }
  at = all_.begin + in_cells_;
  for (const AddressRange& gap : gaps_) {
    const int64_t bytes = gap.end - gap.begin;
    add(found, {gap.begin + std::max<int64_t>(places.begin - at, 0), gap.begin + std::min(places.end - at, bytes)});
    at += bytes;
  }
  return found;
}

int64_t Order::place_of(int64_t address) const {
  if (!any()) return address;
  int64_t place = all_.begin + in_cells_;
  for (const AddressRange& gap : gaps_) {
    if (gap.begin <= address && address < gap.end) return place + address - gap.begin;
    place += gap.end - gap.begin;
  }
  const auto after =
      std::ranges::upper_bound(fields_, address, {}, [](const Known& known) { return known.field.address; });
  const Known& known = *std::prev(after);
  const NodeGrid& grid = grids_[known.grid];
  const int64_t size = known.field.element_bytes, byte = (address - known.field.address) % size;
  int64_t element = (address - known.field.address) / size;
  Dims index = grid.shape, at = grid.shape;
  for (int d = index.rank() - 1; d >= 0; --d) {
    index[d] = element % grid.shape[d];
    at[d] = cell_with(grid, d, index[d]);
    element /= grid.shape[d];
  }
  const int64_t number = number_of(grid, at);
  return start_of(number, known) + CellBox(grid, number).number_of(index) * size + byte;
}

// Of the elements from START to END, in each cell from the first to the last.
void Order::add_places(const Known& known, const Dims& start, const Dims& end,
                       std::vector<AddressRange>& places) const {
  const NodeGrid& grid = grids_[known.grid];
  Dims first, last;
  for (int d = 0; d < start.rank(); ++d) {
    if (start[d] >= end[d]) return;
    first.push_back(cell_with(grid, d, start[d]));
    last.push_back(cell_with(grid, d, end[d] - 1));
  }
  for (Dims at = first;;) {
    const int64_t number = number_of(grid, at), place = start_of(number, known), size = known.field.element_bytes;
    const CellBox cell(grid, number);
    Dims low = cell.start, high = cell.start;
    for (int d = 0; d < at.rank(); ++d) {
      low[d] = std::max(cell.start[d], start[d]);
      high[d] = std::min(cell.start[d] + cell.extent[d], end[d]) - 1;
    }
    places.push_back({place + cell.number_of(low) * size, place + (cell.number_of(high) + 1) * size});
    int d = at.rank() - 1;
    while (d >= 0 && at[d] == last[d]) {
      at[d] = first[d];
      --d;
    }
    if (d < 0) return;
    ++at[d];
  }
}

// A block that begins before a row of the piece begins in the row before, which may be in other cells.
std::vector<AddressRange> Order::places_near(const Piece& piece, int64_t block) const {
  const int64_t begin = first_address(piece), end = last_address(piece);
  if (!any()) return {{begin, end}};
  std::vector<AddressRange> places;
  const int64_t before = place_of(std::max(begin / block * block, all_.begin));
  places.push_back({before, before + 1});
  const auto known = std::ranges::find_if(fields_, [&](const Known& one) {
    return one.field.address == piece.address && grids_[one.grid].shape == piece.selection.shape() &&
           piece.selection.is_box();
  });
  if (known == fields_.end()) {
    places.push_back({place_of(begin), place_of(end - 1) + 1});
    return places;
  }
  const NodeGrid& grid = grids_[known->grid];
  Dims start = piece.selection.box().start, stop = start;
  for (int d = 0; d < start.rank(); ++d) stop[d] += piece.selection.box().count[d];
  if (is_aligned(block)) {
    add_places(*known, start, stop, places);
    return places;
  }
  const int row = row_dimension(grid);
  const int64_t step = elements_after(grid.shape, row) * known->field.element_bytes;
  const int64_t reach = std::min((block + step - 1) / step, grid.shape[row]);
  const bool wraps = start[row] < reach;
  start[row] = std::max<int64_t>(start[row] - reach, 0);
  for (int d = row + 1; d < start.rank(); ++d) {
    start[d] = 0;
    stop[d] = grid.shape[d];
  }
  add_places(*known, start, stop, places);
  if (!wraps) return places;
  start[row] = grid.shape[row] - reach;
  stop[row] = grid.shape[row];
  for (int d = row - 1; d >= 0; --d) {
    if (start[d] == 0 && d > 0) stop[d] = grid.shape[d];
    start[d] = std::max<int64_t>(start[d] - 1, 0);
  }
  add_places(*known, start, stop, places);
  return places;
}

Survey::Survey(std::span<const Piece> pieces) {
  std::unordered_set<int64_t> known;
  for (const Piece& piece : pieces) {
    const Selection& part = piece.selection;
    if (!part.is_box() || part.shape().empty() || piece.row_stride != 0) continue;
    if (part.count() == 0 || part.count() == product(part.shape())) continue;
    auto shape = std::ranges::find(shapes_, part.shape(), [](const Shape& one) { return one.grid.shape; });
    Dims end = part.box().start;
    for (int d = 0; d < end.rank(); ++d) end[d] += part.box().count[d];
    if (shape == shapes_.end()) {
      shapes_.push_back({{part.shape(), {}, {}}, part.box().start, end});
      shape = std::prev(shapes_.end());
    }
    for (int d = 0; d < end.rank(); ++d) {
      shape->start[d] = std::min(shape->start[d], part.box().start[d]);
      shape->end[d] = std::max(shape->end[d], end[d]);
    }
    if (known.insert(piece.address).second) shape->grid.fields.push_back({piece.address, piece.element_bytes});
  }
  std::erase_if(shapes_, [](const Shape& shape) { return shape.grid.fields.empty(); });
  for (Shape& shape : shapes_) std::ranges::sort(shape.grid.fields, {}, &NodeGrid::Field::address);
  const auto order = [](const Shape& shape) {
    return std::pair(-shape.grid.bytes(), shape.grid.fields.front().address);
  };
  std::ranges::sort(shapes_, {}, order);
  if (shapes_.size() > most_shapes) shapes_.resize(most_shapes);
  uint64_t key = 0;
  for (const Shape& shape : shapes_) {
    key = crc64(std::as_bytes(std::span(shape.grid.shape.begin(), shape.grid.shape.end())), key);
    key = crc64(std::as_bytes(std::span(shape.grid.fields)), key);
  }
  if (!shapes_.empty()) key_ = static_cast<int64_t>(key >> 1);
}

// In the arrays, each shape has room for MAX_RANK dimensions: in Bounds minus the start and the end of a box, in
// Extents its extent, and after them 1 if the node's box is not where its number says.
Survey::Bounds Survey::bounds() const {
  Bounds bounds;
  bounds.fill(INT64_MIN);
  for (size_t s = 0; s < shapes_.size(); ++s)
    for (int d = 0; d < shapes_[s].start.rank(); ++d) {
      const size_t at = 2 * (s * max_rank + static_cast<size_t>(d));
      bounds[at] = -shapes_[s].start[d];
      bounds[at + 1] = shapes_[s].end[d];
    }
  return bounds;
}

namespace {

// How many boxes of EXTENT there are in ALL elements.
int64_t boxes(int64_t all, int64_t extent) { return (2 * all + extent) / (2 * extent); }

// Joins cells, the last dimension's first, so that NODES nodes share one. False if they do not fit.
bool join(Dims& cells, int64_t nodes) {
  for (int d = cells.rank() - 1; d >= 0; --d) {
    if (cells[d] % nodes == 0) {
      cells[d] /= nodes;
      return true;
    }
    if (nodes % cells[d] != 0) return false;
    nodes /= cells[d];
    cells[d] = 1;
  }
  return false;
}

int64_t bytes_of(const std::vector<NodeGrid>& grids) {
  int64_t bytes = 0;
  for (const NodeGrid& grid : grids) bytes += grid.bytes();
  return bytes;
}

}  // namespace

Survey::Extents Survey::extents(const Bounds& of_node, int64_t node, int64_t nodes) const {
  Extents extents;
  extents.fill(INT64_MIN);
  for (size_t s = 0; s < shapes_.size(); ++s) {
    int64_t number = 0, all = 1;
    for (int d = 0; d < shapes_[s].start.rank(); ++d) {
      const size_t at = 2 * (s * max_rank + static_cast<size_t>(d));
      const int64_t start = -of_node[at], extent = of_node[at + 1] - start;
      const int64_t count = boxes(shapes_[s].grid.shape[d], extent);
      extents[s * (max_rank + 1) + static_cast<size_t>(d)] = extent;
      number = number * count + (2 * start + extent) / (2 * extent);
      all *= count;
    }
    extents[s * (max_rank + 1) + max_rank] = number == node && all == nodes ? 0 : 1;
  }
  extents[extents.size() - 2] = key_;
  extents[extents.size() - 1] = -key_;
  return extents;
}

std::vector<NodeGrid> Survey::grids(const Extents& of_all, int64_t nodes, RowsWanted rows) const {
  constexpr int64_t most_nodes = 8;  // in a cell: more would send parts of windows that are too small
  if (key_ < 0 || of_all[of_all.size() - 2] != -of_all[of_all.size() - 1]) return {};
  std::vector<NodeGrid> single;
  for (size_t s = 0; s < shapes_.size(); ++s) {
    NodeGrid grid = shapes_[s].grid;
    for (int d = 0; d < grid.shape.rank(); ++d)
      grid.cells.push_back(boxes(grid.shape[d], of_all[s * (max_rank + 1) + static_cast<size_t>(d)]));
    if (of_all[s * (max_rank + 1) + max_rank] == 0 && grid.cell_count() == nodes) single.push_back(std::move(grid));
  }
  for (int64_t joined = 1; joined <= std::min(most_nodes, nodes - 1); ++joined) {
    std::vector<NodeGrid> found;
    for (NodeGrid grid : single) {
      if (!join(grid.cells, joined)) continue;
      std::erase_if(grid.fields, [&](const NodeGrid::Field& field) { return !rows.suit(grid, field); });
      if (!grid.fields.empty()) found.push_back(std::move(grid));
    }
    if (found.empty() || 2 * bytes_of(found) < bytes_of(single)) continue;
    const bool as_in_file = found.size() == 1 && found[0].fields.size() == 1 && row_dimension(found[0]) == 0;
    return as_in_file ? std::vector<NodeGrid>() : found;
  }
  return {};
}

}  // namespace penstock
