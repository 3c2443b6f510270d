// Problem: what one commit or read asks of its plan, in a few words. Equal problems share what was measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

// The same on all ranks.
struct Problem {
  bool write = true;
  std::string format, placement;  // of the file; a plan that is chosen late cannot change them
  bool durable = true;            // of a write
  bool in_memory = false;         // of a read: the file is in the page cache of rank 0's node
  int64_t ranks = 1;
  int64_t ranks_per_node = 1;  // on the node that has most
  int64_t bytes = 0;           // of the rank that has most
  int64_t blocks = 0;          // puts or gets of the rank that has most
  int64_t run_bytes = 0;       // mean length of what is contiguous in its dataset, on the rank where it is shortest
  std::string filesystem;      // its type: "ext4"
  std::string mpi;             // "Open MPI v4.1.4"; "" in wisdom that was simulated: any library
};

// Whether wisdom for library ONE applies to library OTHER.
bool same_library(std::string_view one, std::string_view other);

// How different the sizes of two problems are: the sum of the binary logarithms of their ratios. Infinite if anything
// else differs.
double distance(const Problem& a, const Problem& b);

}  // namespace penstock
