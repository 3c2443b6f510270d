// Tests of orders: places and addresses are a bijection, every block has one writer, and every piece all its writers.
#include "core/transport/two_phase/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/base/units.hpp"
#include "core/transport/two_phase/domain.hpp"
#include "core/transport/two_phase/exchange.hpp"
#include "core/transport/two_phase/survey.hpp"

namespace penstock {
namespace {

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}
  int64_t operator()(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

 private:
  std::mt19937 random_;
};

// Nodes in a grid, one or several ranks on each, side by side in the last dimension, and datasets of which each rank
// has a box.
struct Case {
  Dims grid;
  int64_t ranks_per_node = 1;
  Dims shape;
  std::vector<NodeGrid::Field> fields;
  int64_t end = 0;

  int64_t nodes() const {
    int64_t n = 1;
    for (const int64_t count : grid) n *= count;
    return n;
  }
  std::vector<Piece> pieces(int64_t rank) const {
    const int last = grid.rank() - 1;
    Dims ranks = grid, at = grid;
    ranks[last] *= ranks_per_node;
    for (int d = last; d >= 0; --d) {
      at[d] = rank % ranks[d];
      rank /= ranks[d];
    }
    std::vector<Piece> list;
    Box box{at, at};
    for (int d = 0; d <= last; ++d) {
      box.start[d] = shape[d] * at[d] / ranks[d];
      box.count[d] = shape[d] * (at[d] + 1) / ranks[d] - box.start[d];
    }
    for (const NodeGrid::Field& field : fields) {
      Piece& piece = list.emplace_back();
      piece.address = field.address;
      piece.element_bytes = field.element_bytes;
      piece.selection = Selection::of_box(shape, box);
    }
    return list;
  }
};

Case any_case(Draw& draw, bool aligned) {
  Case c;
  c.ranks_per_node = draw(1, 3);
  const auto dimensions = draw(1, 3);
  for (int64_t d = 0; d < dimensions; ++d) c.grid.push_back(draw(1, 3));
  for (int64_t d = 0; d < dimensions; ++d) {
    const int64_t parts = c.grid[static_cast<int>(d)] * (d + 1 == dimensions ? c.ranks_per_node : 1);
    c.shape.push_back(aligned ? parts * (int64_t{1} << draw(0, 2)) : parts * draw(4, 7) + draw(0, parts / 2));
  }
  c.end = draw(0, 2) * 64;
  for (int64_t n = draw(1, 3); n > 0; --n) {
    c.fields.push_back({c.end, aligned ? 64 : draw(1, 16)});
    c.end += NodeGrid{c.shape, {}, {}}.bytes(c.fields.back()) + (aligned ? draw(0, 3) * 64 : draw(0, 300));
  }
  return c;
}

void raise(std::span<int64_t> most, std::span<const int64_t> values) {
  std::ranges::transform(most, values, most.begin(), [](int64_t a, int64_t b) { return std::max(a, b); });
}

Survey survey_of(const std::vector<Piece>& pieces) {
  std::vector<WholeDataset> datasets;
  for (const Piece& piece : pieces) datasets.push_back({piece.address, piece.element_bytes, piece.selection.shape()});
  return {datasets, pieces};
}

// What the ranks agree on. PIECES: of each rank, which knows the datasets of its own.
std::vector<NodeGrid> grids_of(const std::vector<std::vector<Piece>>& pieces, int64_t ranks_per_node, RowsWanted rows) {
  const int64_t nodes = std::ssize(pieces) / ranks_per_node;
  std::vector<Survey::Bounds> bounds(static_cast<size_t>(nodes));
  for (Survey::Bounds& of_node : bounds) of_node.fill(INT64_MIN);
  Survey::Extents extents;
  extents.fill(INT64_MIN);
  for (size_t rank = 0; rank < pieces.size(); ++rank)
    raise(bounds[rank / static_cast<size_t>(ranks_per_node)], survey_of(pieces[rank]).bounds());
  const auto of_rank = [&](size_t rank) -> const Survey::Bounds& {
    return bounds[rank / static_cast<size_t>(ranks_per_node)];
  };
  for (size_t rank = 0; rank < pieces.size(); ++rank) raise(extents, survey_of(pieces[rank]).extents(of_rank(rank)));
  const Survey any = survey_of(pieces.front());
  const std::vector<Dims> cells = any.cells(extents, nodes);
  std::vector<int64_t> starts;
  for (int64_t node = 0; node < nodes; ++node) {
    const std::vector<int64_t> its = any.starts(cells, bounds[static_cast<size_t>(node)], node);
    starts.resize(its.size(), INT64_MIN);
    raise(starts, its);
  }
  return any.grids(cells, starts, rows);
}

std::vector<NodeGrid> grids_of(const Case& c, RowsWanted rows) {
  std::vector<std::vector<Piece>> pieces;
  for (int64_t rank = 0; rank < c.nodes() * c.ranks_per_node; ++rank) pieces.push_back(c.pieces(rank));
  return grids_of(pieces, c.ranks_per_node, rows);
}

Dims cells_of(const NodeGrid& grid) {
  Dims cells;
  for (int d = 0; d < grid.shape.rank(); ++d) cells.push_back(grid.cells(d));
  return cells;
}

TEST(Order, PlacesAndAddressesAreABijection) {
  Draw draw(1);
  int ordered = 0;
  for (int i = 0; i < 300; ++i) {
    const Case c = any_case(draw, i % 2 == 0);
    const Order order({0, c.end}, grids_of(c, {}), int64_t{1} << draw(0, 6));
    ASSERT_TRUE(order.is_sound());
    ordered += order.any();
    std::vector<int> seen(static_cast<size_t>(c.end));
    int64_t place = 0;
    for (const AddressRange& range : order.addresses({0, c.end})) {
      for (const int64_t at : {range.begin, draw(range.begin, range.end - 1), range.end - 1})
        ASSERT_EQ(order.place_of(at), place + at - range.begin);
      for (int64_t at = range.begin; at < range.end; ++at) ++seen[static_cast<size_t>(at)];
      place += range.end - range.begin;
    }
    ASSERT_EQ(place, c.end);
    ASSERT_TRUE(std::ranges::all_of(seen, [](int n) { return n == 1; }));
    const int64_t from = draw(0, c.end), to = draw(from, c.end);
    int64_t bytes = 0;
    for (const AddressRange& range : order.addresses({from, to})) {
      ASSERT_EQ(order.place_of(range.begin), from + bytes);
      bytes += range.end - range.begin;
    }
    ASSERT_EQ(bytes, to - from);
  }
  EXPECT_GT(ordered, 150);
}

// Candidates of each node: all of its ranks.
Domains domains_of(const Case& c, int64_t block, int64_t window) {
  const auto ranks = c.nodes() * c.ranks_per_node;
  Cut cut{.end = c.end, .block = block, .window = window, .writers = ranks, .ranks = static_cast<int>(ranks)};
  cut.nodes = c.nodes();
  for (int rank = 0; rank < cut.ranks; ++rank) {
    if (rank % c.ranks_per_node == 0) cut.candidates.emplace_back();
    cut.candidates.back().push_back(rank);
  }
  cut.grids = grids_of(c, rows_wanted(cut));
  return cut_domains(cut);
}

TEST(Order, EveryBlockIsInOneWindowAndEveryPieceHasAllItsWriters) {
  Draw draw(2);
  int ordered = 0, unaligned = 0;
  for (int i = 0; i < 80; ++i) {
    const Case c = any_case(draw, draw(0, 1) == 0);
    const int64_t block = int64_t{1} << draw(0, 6);
    const Domains d = domains_of(c, block, block * draw(1, 64));
    ordered += d.order.any();
    unaligned += d.order.any() && !d.order.is_aligned();
    std::vector<int> writer_of(static_cast<size_t>(d.end / block), -1);
    for (int w = 0; w < d.writers; ++w) {
      int64_t bytes = 0;
      for (int64_t round = 0; round < d.rounds(); ++round) {
        const Window window = d.window_of(w, round);
        ASSERT_LE(window.bytes(), d.largest_window());
        bytes += window.bytes();
        for (const AddressRange& range : window.ranges) {
          ASSERT_LT(range.begin, range.end);
          ASSERT_EQ(range.begin % block, 0);
          ASSERT_EQ(range.end % block, 0);
          for (int64_t b = range.begin / block; b < range.end / block; ++b) {
            ASSERT_EQ(writer_of[static_cast<size_t>(b)], -1);
            writer_of[static_cast<size_t>(b)] = w;
          }
        }
      }
      ASSERT_EQ(bytes, d.domain_of(w).bytes());
    }
    ASSERT_TRUE(std::ranges::find(writer_of, -1) == writer_of.end());
    for (int rank = 0; rank < d.ranks; ++rank) {
      int64_t all = 0, routed = 0;
      const std::vector<Piece> pieces = c.pieces(rank);
      for (const Piece& piece : pieces) all += piece.selection.count() * piece.element_bytes;
      for (const Route& route : find_routes(pieces, d))
        for (int64_t round = 0; round < d.rounds(); ++round)
          routed += route.pieces.bytes_in(d.window_of(route.writer, round));
      ASSERT_EQ(routed, all);
    }
  }
  EXPECT_GT(ordered, 20);
  EXPECT_GT(unaligned, 4);
}

// Where rows are whole blocks, all that a rank has goes to writers of its node.
TEST(Order, ANodeWritesWhatItHas) {
  const Case c{{2, 4}, 2, {64, 64}, {{0, 64}, {64 * 64 * 64, 64}}, 2 * 64 * 64 * 64};
  const Domains d = domains_of(c, 64, 4096);
  ASSERT_TRUE(d.order.any());
  EXPECT_EQ(d.step, d.window);
  for (int rank = 0; rank < d.ranks; ++rank)
    for (const Route& route : find_routes(c.pieces(rank), d)) EXPECT_EQ(route.rank / 2, rank / 2);
}

TEST(Order, NarrowBoxesOfNodesAreJoined) {
  const Case c{{2, 4}, 2, {64, 64}, {{0, 64}}, 64 * 64 * 64};  // rows of 1 KiB on each node
  EXPECT_EQ(cells_of(grids_of(c, {1024}).front()), (Dims{2, 4}));
  EXPECT_EQ(cells_of(grids_of(c, {1025}).front()), (Dims{2, 2}));
  EXPECT_TRUE(grids_of(c, {2049}).empty()) << "whole rows: as in the file";
}

// Boxes of 80 and of 81: many numbers of cells would do for one dimension.
TEST(Order, UnevenBoxesAreFound) {
  const Case c{{12, 13}, 1, {12 * 80 + 1, 13 * 80 + 12}, {{0, 8}}, 8 * (12 * 80 + 1) * (13 * 80 + 12)};
  ASSERT_EQ(grids_of(c, {}).size(), 1);
  EXPECT_EQ(cells_of(grids_of(c, {}).front()), (Dims{12, 13}));
}

TEST(Order, WhatHasNoCellsStaysAsItIs) {
  Case c{{2, 2}, 1, {64, 64}, {{0, 8}}, 8 * 64 * 64};
  EXPECT_FALSE(grids_of(c, {}).empty());
  Case lines = c;
  lines.grid = {4, 1};
  EXPECT_TRUE(grids_of(lines, {}).empty()) << "each node has one range";
  const auto grids_if = [&](const auto& change) {
    std::vector<std::vector<Piece>> all;
    for (int64_t node = 0; node < 4; ++node) {
      all.push_back(c.pieces(node));
      change(node, all.back());
    }
    return grids_of(all, 1, {});
  };
  EXPECT_FALSE(grids_if([](int64_t, const auto&) {}).empty());
  EXPECT_TRUE(grids_if([](int64_t node, auto& pieces) {
                if (node == 2) pieces.clear();
              }).empty())
      << "a rank without datasets";
  EXPECT_FALSE(grids_if([](int64_t node, auto& pieces) {
                 if (node == 2) pieces[0].selection = Selection::of_box({64, 64}, {{0, 0}, {0, 0}});
               }).empty())
      << "a node without data, whose cell others show";
  EXPECT_TRUE(grids_if([&](int64_t node, auto& pieces) { pieces = c.pieces(3 - node); }).empty())
      << "nodes in another order";
  EXPECT_TRUE(grids_if([](int64_t node, auto& pieces) {
                if (node == 1) pieces[0].address += 4096;
              }).empty())
      << "another dataset";
}

TEST(Order, FewerWritersThanCellsDivideTheFile) {
  const Case c{{2, 4}, 2, {64, 64}, {{0, 64}}, 64 * 64 * 64};
  Cut cut{.end = c.end, .block = 64, .window = 4096, .writers = 4, .ranks = 16, .nodes = 8};
  cut.grids = grids_of(c, rows_wanted(cut));
  ASSERT_FALSE(cut.grids.empty());
  EXPECT_FALSE(cut_domains(cut).order.any());
  cut.writers = 8;
  EXPECT_TRUE(cut_domains(cut).order.any());
}

// What is in no field does not move writers away from their nodes, however much it is.
TEST(Order, CellsShareTheGaps) {
  Case c{{2, 4}, 2, {64, 64}, {{0, 64}, {64 * 64 * 64, 64}}, 2 * 64 * 64 * 64};
  c.end += 64 * 64 * 64 - 640;
  const Domains d = domains_of(c, 64, 4096);
  ASSERT_TRUE(d.order.any());
  for (int rank = 0; rank < d.ranks; ++rank)
    for (const Route& route : find_routes(c.pieces(rank), d)) EXPECT_EQ(route.rank / 2, rank / 2);
}

// Two lists, of which nodes have parts of different lengths, and the first of two ranks on a node has nothing.
// One rank alone writes a short list.
TEST(Order, NodesHaveUnevenPartsOfLists) {
  const int64_t cuts[] = {0, 4096, 16384, 20480, 65536};
  std::vector<std::vector<Piece>> pieces(8);
  for (size_t rank = 0; rank < 8; ++rank)
    for (const int64_t address : {int64_t{0}, int64_t{65536} * 8}) {
      const int64_t begin = rank % 2 == 0 ? 0 : cuts[rank / 2], end = rank % 2 == 0 ? 0 : cuts[rank / 2 + 1];
      Piece& piece = pieces[rank].emplace_back();
      piece.address = address;
      piece.element_bytes = 8;
      piece.selection = Selection::of_box({65536}, {{begin}, {end - begin}});
    }
  const int64_t short_list = 2 * 65536 * 8;
  for (size_t rank = 0; rank < 8; ++rank) {
    const Selection part = Selection::of_box({16}, {{0}, {rank == 0 ? 16 : 0}});
    pieces[rank].push_back({.address = short_list, .element_bytes = 8, .selection = part});
  }
  Cut cut{.end = short_list + 128, .window = 8192, .writers = 4, .ranks = 8, .nodes = 4};
  cut.grids = grids_of(pieces, 2, rows_wanted(cut));
  const Domains d = cut_domains(cut);
  ASSERT_TRUE(d.order.any());
  for (size_t rank = 0; rank < 8; ++rank)
    for (const Route& route : find_routes(pieces[rank], d)) EXPECT_EQ(route.rank / 2, static_cast<int>(rank / 2));
}

TEST(Order, FieldsBeyondTheRangeOrOverEachOtherAreNone) {
  const Case c{{2, 2}, 1, {64, 64}, {{0, 8}, {64 * 64 * 8, 8}}, 2 * 64 * 64 * 8};
  std::vector<NodeGrid> grids = grids_of(c, {});
  ASSERT_FALSE(grids.empty());
  EXPECT_TRUE(Order({0, c.end}, grids, 64).is_sound());
  EXPECT_FALSE(Order({0, c.end - 64}, grids, 64).is_sound());
  EXPECT_FALSE(Order({64, c.end}, grids, 64).is_sound());
  Cut cut{.end = c.end - 64, .block = 64, .window = 4096, .writers = 4, .ranks = 4, .nodes = 4, .grids = grids};
  EXPECT_FALSE(cut_domains(cut).order.any());
  grids.front().fields.back().address -= 64;
  EXPECT_FALSE(Order({0, c.end}, grids, 64).is_sound());
}

// They jump from cell to cell.
TEST(Order, RunsInAFieldHaveAllTheirWriters) {
  const Case c{{2, 2}, 1, {64, 64}, {{0, 8}, {64 * 64 * 8, 8}}, 2 * 64 * 64 * 8};
  const Domains d = domains_of(c, 64, 1024);
  ASSERT_TRUE(d.order.any());
  std::vector<penstock::Run> runs;
  for (int64_t row = 0; row < 64; row += 5) runs.push_back({row * 64 + 60 - row % 60, 20});
  Piece piece = c.pieces(0).front();
  piece.selection = Selection::of_runs(c.shape, runs);
  int64_t routed = 0;
  for (const Route& route : find_routes({piece}, d))
    for (int64_t round = 0; round < d.rounds(); ++round)
      routed += route.pieces.bytes_in(d.window_of(route.writer, round));
  EXPECT_EQ(routed, piece.selection.count() * 8);
}

}  // namespace
}  // namespace penstock
