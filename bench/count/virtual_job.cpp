// VirtualJob: the work of core/placement/shared.cpp for a single file, for any rank.
#include "bench/count/virtual_job.hpp"

#include <algorithm>

#include "core/base/units.hpp"
#include "core/commit/pending.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::bench {

Result<VirtualJob> VirtualJob::make(const Workload& workload, const Format& format, const JobShape& shape) {
  VirtualJob job(workload, shape);
  Catalogue catalogue;
  for (const Field& field : workload.fields()) catalogue.datasets.push_back({field.name, field.type, field.shape});
  PENSTOCK_TRY(format.check(catalogue));
  PENSTOCK_ASSIGN(job.layout_, format.layout(catalogue, {.block = shape.block}));
  const int64_t end = round_up(job.layout_.end, shape.block);
  // As long as the name of a partial file.
  job.parts_.push_back({".file.h5.0123456789abcdef.0123456789ab-123456-12345678.slurm-1234567.node01.partial", end, 0});
  job.bytes_ = total_bytes(workload);
  const int64_t last = shape.ranks - 1;
  const int64_t counted = shape.most_counted > 0 ? std::min(shape.most_counted, shape.ranks) : shape.ranks;
  for (int64_t i = 0; i < counted; ++i) {
    const int64_t from = counted > 1 ? i * last / (counted - 1) : 0,
                  to = counted > 1 ? (i + 1) * last / (counted - 1) : 1;
    // Not at even distances: these could be whole nodes, or rows of a grid of ranks.
    const int64_t off = i == 0 || i == counted - 1 ? 0 : i * 40503 % (to - from);
    job.counted_.push_back(static_cast<int>(from + off));
  }
  return job;
}

std::vector<int> VirtualJob::counted_nodes() const {
  constexpr size_t some = 8;
  const bool all = std::ssize(counted_) == shape_.ranks;
  const size_t step = all ? 1 : std::max<size_t>(1, counted_.size() / some);
  std::vector<int> found;
  for (size_t i = 0; i < counted_.size(); i += step)
    if (const int node = node_of(counted_[i]); found.empty() || found.back() != node) found.push_back(node);
  return found;
}

std::vector<int> VirtualJob::ranks_of(int node) const {
  std::vector<int> ranks;
  for (int rank = first_rank_of(node); rank < std::min(first_rank_of(node + 1), shape_.ranks); ++rank)
    ranks.push_back(rank);
  return ranks;
}

Result<std::vector<penstock::Piece>> VirtualJob::pieces(int rank) const {
  std::vector<penstock::Piece> list;
  if (rank == 0)
    for (const Layout::Metadata& block : layout_.metadata) list.push_back(piece_of(block, parts_, 0));
  const std::vector<Field>& fields = workload_->fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    PENSTOCK_ASSIGN(const Decomposition part, workload_->part(static_cast<int>(i), rank, shape_.ranks));
    const Pending pending{fields[i].name, fields[i].type, part, {}};
    SeenRuns seen;
    for (Selection& selection : selections(pending, fields[i].shape, {0, rank}, seen))
      list.push_back(piece_of(layout_.blocks[i], parts_, fields[i].type, std::move(selection), nullptr));
  }
  return list;
}

std::vector<WholeDataset> VirtualJob::whole() const {
  std::vector<WholeDataset> list;
  for (size_t i = 0; i < layout_.blocks.size(); ++i) {
    StoredBlock block = layout_.blocks[i];
    block.where = Selection::whole(workload_->fields()[i].shape);
    add_whole(std::span(&block, 1), parts_, workload_->fields()[i].type, list);
  }
  return list;
}

}  // namespace penstock::bench
