// Domains: divides the virtual address space into block-aligned domains, one per writer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/transport/move.hpp"
#include "core/transport/two_phase/order.hpp"

namespace penstock {

// The address space to divide, and the writers.
struct Cut {
  int64_t begin = 0, end = 0;
  int64_t block = 4096;      // writers do not share blocks
  int64_t window = 8 << 20;  // maximum that a writer handles at once
  int64_t writers = 0;       // 0: automatic
  int64_t max_writers = 0;   // 0: no limit
  int ranks = 1;
  int64_t nodes = 1;
  int64_t span = 0;  // range over which the data of one rank is spread; 0: unknown
  // The ranks of each node that may write unless the user requests more writers; empty: any.
  std::vector<std::vector<int>> candidates;
  std::vector<NodeGrid> grids;  // in whose order to divide, if there is a writer for each cell; empty: as in the files
};

// At most so many ranks of a node write by default: more would only share its path to the disk.
inline constexpr int64_t most_candidates = 4;

// The ranks among RANKS, those of one node, that may write, and that carry data to other nodes; in order.
std::vector<int> candidates_among(const std::vector<int>& ranks);

// Where domains follow an order of cells, rows are at least this part of a window.
inline constexpr int64_t rows_in_window = 8;

// What a writer assembles in one round: ranges of addresses, one after another.
struct Window {
  std::vector<AddressRange> ranges;  // none is empty

  int64_t bytes() const;
};

struct Domains {
  int64_t begin = 0, end = 0;  // the range to divide; multiples of BLOCK
  int64_t block = 4096;
  int64_t window = 16 << 20;  // most that a writer handles in one round; a multiple of BLOCK
  int writers = 1;
  int ranks = 1;
  std::vector<int> writer_ranks;  // the rank of each writer; empty: spread evenly over the ranks
  Order order;                    // in which all is divided
  // Rows of ORDER that end inside blocks may each take one block more:
  int64_t row = 0;             // the shortest row; 0 if none ends so
  int64_t ends = 0;            // such blocks in a round, beside one for each ROW
  int64_t step = window;       // places in a round: WINDOW, or less
  int64_t largest_domain = 0;  // in places

  bool operator==(const Domains&) const = default;

  // Writer W owns the places [cut(W), cut(W + 1)): an even share of all, or of the cells, and of the places in a cell.
  // Empty if there are more writers than blocks. A block belongs to the writer that owns its first byte.
  int64_t cut(int writer) const;
  int writer_at(int64_t place) const;  // REQUIRES: begin <= place < end
  int rank_of(int writer) const;
  int writer_of(int rank) const;  // -1 if RANK is not a writer
  int64_t rounds() const { return (largest_domain + step - 1) / step; }
  // Of any writer in any round.
  int64_t largest_window() const { return most_bytes(std::min(largest_domain, step)); }
  // Of so many places that follow each other.
  int64_t most_bytes(int64_t places) const { return row == 0 ? places : places + (places / row + ends) * block; }
  // A writer's memory: one window fills while the other is written, if there is more than one round.
  int64_t windows_bytes() const { return std::min<int64_t>(2, rounds()) * largest_window(); }
  Window window_of(int writer, int64_t round) const;  // empty after the end of its domain
  Window domain_of(int writer) const { return window_at({cut(writer), cut(writer + 1)}); }
  // From the first to the last address of WRITER's domain.
  AddressRange reach_of(int writer) const;

 private:
  Window window_at(AddressRange places) const;
};

// Local. The rows that cells are to have: shorter ones would make too many small accesses.
RowsWanted rows_wanted(const Cut& cut);

// The default number of writers: a few per node, since more would only share its path to the disk, but one per node on
// thousands of nodes; none for less than a few MiB; and so few that the data of one rank touches the domains of about
// log2(ranks) writers, which bounds the messages of a rank and the data about it at the writers. Never more than ranks.
// Writers are spread evenly over the nodes, or over the ranks if there are more writers than candidates.
Domains cut_domains(const Cut& cut);

}  // namespace penstock
