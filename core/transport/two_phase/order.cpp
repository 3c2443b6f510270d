// Order: arithmetic of cells, and what a survey finds.
#include "core/transport/two_phase/order.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_set>

#include "core/base/crc64.hpp"
#include "core/base/units.hpp"

namespace penstock {
namespace {

int64_t product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies()); }

int64_t elements_after(const Dims& shape, int dimension) {
  return std::accumulate(shape.begin() + dimension + 1, shape.end(), int64_t{1}, std::multiplies());
}

// The last dimension that is divided: from there on a row of a cell is contiguous. 0 if none is.
int row_dimension(const NodeGrid& grid) {
  int d = grid.shape.rank() - 1;
  while (d > 0 && grid.cells(d) == 1) --d;
  return d;
}

int64_t cut(const NodeGrid& grid, int d, int64_t cell) {
  return grid.cuts[static_cast<size_t>(d)][static_cast<size_t>(cell)];
}

// The cell along dimension D that has INDEX.
int64_t cell_with(const NodeGrid& grid, int d, int64_t index) {
  const std::vector<int64_t>& cuts = grid.cuts[static_cast<size_t>(d)];
  return std::ranges::upper_bound(cuts, index) - cuts.begin() - 1;
}

int64_t number_of(const NodeGrid& grid, const Dims& cell) {
  int64_t number = 0;
  for (int d = 0; d < cell.rank(); ++d) number = number * grid.cells(d) + cell[d];
  return number;
}

// Elements in all cells before number CELL.
int64_t elements_before(const NodeGrid& grid, int64_t cell) {
  int64_t before = 0, row_of_cells = grid.cell_count(), extents = 1;
  if (cell >= row_of_cells) return product(grid.shape);
  for (int d = 0; d < grid.shape.rank(); ++d) {
    row_of_cells /= grid.cells(d);
    const int64_t at = cell / row_of_cells;
    cell %= row_of_cells;
    before += extents * cut(grid, d, at) * elements_after(grid.shape, d);
    extents *= cut(grid, d, at + 1) - cut(grid, d, at);
  }
  return before;
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
      cells /= of.cells(d);
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

int64_t NodeGrid::cell_count() const {
  int64_t count = 1;
  for (int d = 0; d < shape.rank(); ++d) count *= cells(d);
  return count;
}

int64_t NodeGrid::bytes() const {
  int64_t all = 0;
  for (const Field& field : fields) all += bytes(field);
  return all;
}

int64_t NodeGrid::bytes(const Field& field) const { return product(shape) * field.element_bytes; }

int64_t NodeGrid::shortest_row(const Field& field) const {
  const int d = row_dimension(*this);
  int64_t shortest = shape[d];
  for (int64_t cell = 0; cell < cells(d); ++cell)
    shortest = std::min(shortest, cut(*this, d, cell + 1) - cut(*this, d, cell));
  return shortest * elements_after(shape, d) * field.element_bytes;
}

bool NodeGrid::is_aligned(const Field& field, int64_t block) const {
  const int d = row_dimension(*this);
  const int64_t step = elements_after(shape, d) * field.element_bytes;
  return field.address % block == 0 && std::ranges::all_of(cuts[static_cast<size_t>(d)], [&](int64_t at) {
           return static_cast<__int128>(at) * step % block == 0;
         });
}

bool RowsWanted::suit(const NodeGrid& grid, const NodeGrid::Field& field) const {
  return grid.shortest_row(field) >= (grid.is_aligned(field, block) ? least : std::max(least, 2 * block));
}

Order::Order(AddressRange all, std::vector<NodeGrid> grids, int64_t block)
    : all_(all), grids_(std::move(grids)), block_(block), by_grid_(grids_.size()) {
  for (size_t g = 0; g < grids_.size(); ++g) {
    int64_t before = 0;
    for (const NodeGrid::Field& field : grids_[g].fields) {
      by_grid_[g].push_back({field, g, before});
      before += field.element_bytes;
      aligned_ = aligned_ && grids_[g].is_aligned(field, block);
    }
    fields_.insert(fields_.end(), by_grid_[g].begin(), by_grid_[g].end());
    element_bytes_.push_back(before);
  }
  std::ranges::sort(fields_, {}, [](const Known& known) { return known.field.address; });
  int64_t at = all.begin;
  const auto add_gap = [&](AddressRange range) {
    sound_ = sound_ && range.begin <= range.end;
    if (range.begin >= range.end) return;
    gaps_.push_back({range, in_gaps_});
    in_gaps_ += range.end - range.begin;
  };
  for (const Known& known : fields_) {
    add_gap({at, known.field.address});
    at = known.field.address + grids_[known.grid].bytes(known.field);
  }
  add_gap({at, all.end});
}

int64_t Order::shortest_row() const {
  int64_t shortest = INT64_MAX;
  for (const NodeGrid& grid : grids_)
    for (const NodeGrid::Field& field : grid.fields) shortest = std::min(shortest, grid.shortest_row(field));
  return shortest;
}

int64_t Order::cut_gaps() const {
  return std::ranges::count_if(gaps_, [&](const Gap& gap) { return gap.range.end % block_ != 0; });
}

const Order::Gap& Order::gap_with(int64_t byte) const {
  return *std::prev(std::ranges::upper_bound(gaps_, byte, {}, &Gap::before));
}

int64_t Order::gaps_before(int64_t cell) const {
  if (cell == 0 || in_gaps_ == 0) return 0;
  if (cell >= cells()) return in_gaps_;
  const auto even = static_cast<int64_t>(static_cast<__int128>(in_gaps_) * cell / cells());
  const Gap& gap = gap_with(even);
  return gap.before + std::min(round_up(gap.range.begin + even - gap.before, block_), gap.range.end) - gap.range.begin;
}

int64_t Order::start_of(int64_t cell) const {
  int64_t place = all_.begin + gaps_before(cell);
  for (size_t g = 0; g < grids_.size(); ++g) place += elements_before(grids_[g], cell) * element_bytes_[g];
  return place;
}

int64_t Order::start_of(int64_t cell, const Known& known) const {
  int64_t place = start_of(cell);
  for (size_t g = 0; g < known.grid; ++g) place += CellBox(grids_[g], cell).elements() * element_bytes_[g];
  return place + CellBox(grids_[known.grid], cell).elements() * known.before;
}

void Order::add_gaps(AddressRange bytes, std::vector<AddressRange>& found) const {
  while (bytes.begin < bytes.end) {
    const Gap& gap = gap_with(bytes.begin);
    const int64_t first = gap.range.begin + bytes.begin - gap.before;
    const int64_t length = std::min(gap.range.end - first, bytes.end - bytes.begin);
    add(found, {first, first + length});
    bytes.begin += length;
  }
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
  for (int64_t number = low; number < cells() && at < places.end; ++number) {
    for (size_t g = 0; g < grids_.size(); ++g) {
      const CellBox cell(grids_[g], number);
      const int64_t elements = cell.elements();
      const auto start = [&](const Known& known) { return at + elements * known.before; };
      auto known = std::ranges::upper_bound(by_grid_[g], places.begin, {}, start);
      if (known != by_grid_[g].begin()) --known;
      for (; known != by_grid_[g].end() && start(*known) < places.end; ++known) {
        const int64_t first = start(*known), bytes = elements * known->field.element_bytes;
        add_rows(cell, known->field, std::max<int64_t>(places.begin - first, 0), std::min(places.end - first, bytes),
                 found);
      }
      at += elements * element_bytes_[g];
    }
    const int64_t first = gaps_before(number), bytes = gaps_before(number + 1) - first;
    add_gaps({first + std::max<int64_t>(places.begin - at, 0), first + std::min(places.end - at, bytes)}, found);
    at += bytes;
  }
  return found;
}

const Order::Known* Order::field_with(int64_t address) const {
  const auto after =
      std::ranges::upper_bound(fields_, address, {}, [](const Known& known) { return known.field.address; });
  if (after == fields_.begin()) return nullptr;
  const Known& known = *std::prev(after);
  return address < known.field.address + grids_[known.grid].bytes(known.field) ? &known : nullptr;
}

bool Order::is_in_one_gap(AddressRange range) const {
  const auto after = std::ranges::upper_bound(gaps_, range.begin, {}, [](const Gap& gap) { return gap.range.begin; });
  return after != gaps_.begin() && range.end <= std::prev(after)->range.end;
}

int64_t Order::place_of(int64_t address) const {
  if (!any()) return address;
  const Known* known = field_with(address);
  if (known == nullptr) {
    const auto gap =
        std::prev(std::ranges::upper_bound(gaps_, address, {}, [](const Gap& one) { return one.range.begin; }));
    const int64_t byte = gap->before + address - gap->range.begin;
    int64_t low = 0, high = cells();  // the cell with it: low <= it < high
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (gaps_before(middle) <= byte ? low : high) = middle;
    }
    return start_of(low + 1) - gaps_before(low + 1) + byte;
  }
  const NodeGrid& grid = grids_[known->grid];
  const int64_t size = known->field.element_bytes, byte = (address - known->field.address) % size;
  int64_t element = (address - known->field.address) / size;
  Dims index = grid.shape, at = grid.shape;
  for (int d = index.rank() - 1; d >= 0; --d) {
    index[d] = element % grid.shape[d];
    at[d] = cell_with(grid, d, index[d]);
    element /= grid.shape[d];
  }
  const int64_t number = number_of(grid, at);
  return start_of(number, *known) + CellBox(grid, number).number_of(index) * size + byte;
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
std::vector<AddressRange> Order::places_near(const Piece& piece) const {
  const int64_t begin = first_address(piece), end = last_address(piece);
  if (!any()) return {{begin, end}};
  const int64_t block_begin = std::max(begin / block_ * block_, all_.begin), before = place_of(block_begin);
  std::vector<AddressRange> places = {{before, before + 1}};
  const Known* known = field_with(begin);
  if (known == nullptr && is_in_one_gap({begin, end})) {
    places.push_back({place_of(begin), place_of(end - 1) + 1});
    return places;
  }
  if (known == nullptr || known->field.address != piece.address || !piece.selection.is_box() || piece.row_stride != 0 ||
      grids_[known->grid].shape != piece.selection.shape() || known->field.element_bytes != piece.element_bytes)
    return {all_};
  const NodeGrid& grid = grids_[known->grid];
  Dims start = piece.selection.box().start, stop = start;
  for (int d = 0; d < start.rank(); ++d) stop[d] += piece.selection.box().count[d];
  if (is_aligned()) {
    add_places(*known, start, stop, places);
    return places;
  }
  const int row = row_dimension(grid);
  const int64_t step = elements_after(grid.shape, row) * known->field.element_bytes;
  const int64_t reach = std::min((block_ + step - 1) / step, grid.shape[row]);
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

int64_t Survey::Shape::bytes() const {
  int64_t bytes = 0;
  for (const NodeGrid::Field& field : fields) bytes += product(shape) * field.element_bytes;
  return bytes;
}

Survey::Survey(std::span<const Piece> pieces) {
  std::unordered_set<int64_t> known;
  std::map<std::vector<int64_t>, size_t> numbers;  // of shapes
  for (const Piece& piece : pieces) {
    const Selection& part = piece.selection;
    if (!part.is_box() || part.shape().empty() || piece.row_stride != 0) continue;
    if (part.count() == 0 || part.count() == product(part.shape())) continue;
    Dims end = part.box().start;
    for (int d = 0; d < end.rank(); ++d) end[d] += part.box().count[d];
    const auto [at, is_new] = numbers.try_emplace({part.shape().begin(), part.shape().end()}, shapes_.size());
    if (is_new) shapes_.push_back({part.shape(), {}, part.box().start, end});
    Shape& shape = shapes_[at->second];
    for (int d = 0; d < end.rank(); ++d) {
      shape.start[d] = std::min(shape.start[d], part.box().start[d]);
      shape.end[d] = std::max(shape.end[d], end[d]);
    }
    if (known.insert(piece.address).second) shape.fields.push_back({piece.address, piece.element_bytes});
  }
  std::erase_if(shapes_, [](const Shape& shape) { return shape.fields.empty(); });
  for (Shape& shape : shapes_) std::ranges::sort(shape.fields, {}, &NodeGrid::Field::address);
  const auto order = [](const Shape& shape) { return std::pair(-shape.bytes(), shape.fields.front().address); };
  std::ranges::sort(shapes_, {}, order);
  if (shapes_.size() > most_shapes) shapes_.resize(most_shapes);
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
  bounds.fill(INT64_MIN);
  for (size_t s = 0; s < shapes_.size(); ++s)
    for (int d = 0; d < shapes_[s].shape.rank(); ++d) {
      bounds[place_of_pair(s, d)] = -shapes_[s].start[d];
      bounds[place_of_pair(s, d) + 1] = shapes_[s].end[d];
    }
  return bounds;
}

// The last two are for what all ranks must have alike.
Survey::Extents Survey::extents(const Bounds& of_node) const {
  Extents extents;
  extents.fill(INT64_MIN);
  for (size_t s = 0; s < shapes_.size(); ++s)
    for (int d = 0; d < shapes_[s].shape.rank(); ++d) {
      const size_t at = place_of_pair(s, d);
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
    int64_t number = node, count = product(cells[s]);
    for (int d = 0; d < cells[s].rank(); ++d) {
      count /= cells[s][d];
      const size_t at = starts.size() + 2 * static_cast<size_t>(number / count);
      number %= count;
      starts.resize(starts.size() + 2 * static_cast<size_t>(cells[s][d]), INT64_MIN);
      starts[at] = -of_node[place_of_pair(s, d)];
      starts[at + 1] = -starts[at];
    }
  }
  return starts;
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
        good = good && of_all[0] == -of_all[1] && of_all[0] >= 0 && (cuts.empty() || of_all[0] > cuts.back());
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
    const bool as_in_file = found.size() == 1 && found[0].fields.size() == 1 && row_dimension(found[0]) == 0;
    return as_in_file ? std::vector<NodeGrid>() : found;
  }
  return {};
}

}  // namespace penstock
