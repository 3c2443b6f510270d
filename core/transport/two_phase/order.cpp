// Order: arithmetic of cells and places.
#include "core/transport/two_phase/order.hpp"

#include <algorithm>

#include "core/base/units.hpp"
#include "core/model/catalogue.hpp"

namespace penstock {
namespace {

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
  if (cell >= row_of_cells) return elements(grid.shape);
  for (int d = 0; d < grid.shape.rank(); ++d) {
    row_of_cells /= grid.cells(d);
    const int64_t at = cell / row_of_cells;
    cell %= row_of_cells;
    before += extents * cut(grid, d, at) * row_major(grid.shape)[d];
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
  CellBox(const NodeGrid& of, int64_t number) : grid(of), dimension(of.row_dimension()) {
    int64_t cells = of.cell_count();
    for (int d = 0; d < of.shape.rank(); ++d) {
      cells /= of.cells(d);
      const int64_t at = number / cells;
      number %= cells;
      start.push_back(cut(of, d, at));
      extent.push_back(cut(of, d, at + 1) - start[d]);
    }
  }

  int64_t count() const { return elements(extent); }
  int64_t row() const { return extent[dimension] * row_major(grid.shape)[dimension]; }

  // The offset in the dataset of element NUMBER of the cell.
  int64_t offset_of(int64_t number) const {
    const Dims index = coordinates(extent, number), stride = row_major(grid.shape);
    int64_t offset = 0;
    for (int d = 0; d < extent.rank(); ++d) offset += (start[d] + index[d]) * stride[d];
    return offset;
  }

  // The number in the cell of the element with INDEX.
  int64_t number_of(const Dims& index) const {
    const Dims stride = row_major(extent);
    int64_t number = 0;
    for (int d = 0; d < extent.rank(); ++d) number += (index[d] - start[d]) * stride[d];
    return number;
  }

  const NodeGrid& grid;
  int dimension;  // of rows
  Dims start, extent;
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

int NodeGrid::row_dimension() const {
  int d = shape.rank() - 1;
  while (d > 0 && cells(d) == 1) --d;
  return d;
}

int64_t NodeGrid::bytes() const {
  int64_t all = 0;
  for (const Field& field : fields) all += bytes(field);
  return all;
}

int64_t NodeGrid::bytes(const Field& field) const { return elements(shape) * field.element_bytes; }

int64_t NodeGrid::shortest_row(const Field& field) const {
  const int d = row_dimension();
  int64_t shortest = shape[d];
  for (int64_t cell = 0; cell < cells(d); ++cell)
    shortest = std::min(shortest, cut(*this, d, cell + 1) - cut(*this, d, cell));
  return shortest * row_major(shape)[d] * field.element_bytes;
}

bool NodeGrid::is_aligned(const Field& field, int64_t block) const {
  const int d = row_dimension();
  const int64_t step = row_major(shape)[d] * field.element_bytes;
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
  for (size_t g = 0; g < known.grid; ++g) place += CellBox(grids_[g], cell).count() * element_bytes_[g];
  return place + CellBox(grids_[known.grid], cell).count() * known.before;
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
      const int64_t elements = cell.count();
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
  const Dims index = coordinates(grid.shape, (address - known->field.address) / size);
  Dims at = index;
  for (int d = 0; d < at.rank(); ++d) at[d] = cell_with(grid, d, index[d]);
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
  const int row = grid.row_dimension();
  const int64_t step = row_major(grid.shape)[row] * known->field.element_bytes;
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

}  // namespace penstock
