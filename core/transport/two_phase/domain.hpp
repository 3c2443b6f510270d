// Domains: the virtual address space cut into one contiguous, block-aligned range for each writer.
#pragma once

#include <cstdint>

namespace penstock {

struct Domains {
  int64_t begin = 0, end = 0;  // what is cut; multiples of BLOCK
  int64_t block = 4096;
  int64_t window = 16 << 20;  // what a writer handles in one round; a multiple of BLOCK
  int writers = 1;
  int ranks = 1;

  // Writer W owns [cut(W), cut(W + 1)); empty where there are more writers than blocks.
  int64_t cut(int writer) const;
  int writer_at(int64_t address) const;  // REQUIRES: begin <= address < end
  // Writers are spread evenly over the ranks, so that every node has its share.
  int rank_of(int writer) const;
  int writer_of(int rank) const;  // -1 where the rank is none
  int64_t rounds() const;         // of the largest domain
  // What WRITER handles in ROUND; empty behind the end of its domain.
  int64_t window_begin(int writer, int64_t round) const;
  int64_t window_end(int writer, int64_t round) const { return window_begin(writer, round + 1); }
};

// WRITERS = 0 chooses: one for each rank, but none for less than a few MiB, and never more than ranks.
Domains cut_domains(int64_t begin, int64_t end, int64_t block, int64_t window, int writers, int ranks);

}  // namespace penstock
