// VirtualJob: the pieces that every rank of a large job would pass to its transport, computed by one process.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include <penstock/status.hpp>

#include "bench/workload/workload.hpp"
#include "core/format/format.hpp"
#include "core/transport/move.hpp"

namespace penstock::bench {

struct JobShape {
  int ranks = 1;
  int ranks_per_node = 16;  // neighbours in rank order
  int64_t block = 4096;     // of the plan
  int most_counted = 0;     // whose pieces are visited; others are taken to be like them; 0: all
};

// Immutable. Real selections in the real layout of one file, without memory.
class VirtualJob {
 public:
  // WORKLOAD must outlive the job.
  static Result<VirtualJob> make(const Workload& workload, const Format& format, const JobShape& shape);

  // The pieces of RANK; for rank 0 including the format's metadata.
  Result<std::vector<penstock::Piece>> pieces(int rank) const;
  std::vector<WholeDataset> whole() const;
  const std::vector<Part>& parts() const { return parts_; }
  int ranks() const { return shape_.ranks; }
  // The ranks to visit: all, or some from everywhere, with the first and the last.
  const std::vector<int>& counted() const { return counted_; }
  // The nodes of which all ranks are visited: all, or some.
  std::vector<int> counted_nodes() const;
  // What was found on the visited ranks, for all.
  double of_all(double found) const {
    const auto counted = std::ssize(counted_);
    return counted == shape_.ranks ? found : found * shape_.ranks / static_cast<double>(counted);
  }
  int64_t block() const { return shape_.block; }
  int64_t bytes() const { return bytes_; }  // of the workload
  int node_of(int rank) const { return rank / shape_.ranks_per_node; }
  int nodes() const { return node_of(shape_.ranks - 1) + 1; }
  int first_rank_of(int node) const { return node * shape_.ranks_per_node; }
  std::vector<int> ranks_of(int node) const;

 private:
  VirtualJob(const Workload& workload, const JobShape& shape) : workload_(&workload), shape_(shape) {}

  const Workload* workload_;
  JobShape shape_;
  Layout layout_;
  std::vector<Part> parts_;
  std::vector<int> counted_;
  int64_t bytes_ = 0;
};

}  // namespace penstock::bench
