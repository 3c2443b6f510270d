// ior: the pattern of IOR: segments of one block per rank, one after another, passed transfer by transfer.
//
// The file order is IOR's: segment, rank, byte of the block. One segment gives each rank a region of its own
// ("segmented"); many segments of one transfer each interleave the ranks ("strided").
#include <fmt/format.h>
#include <algorithm>
#include <random>

#include "bench/workload/blocks.hpp"
#include "core/base/units.hpp"

namespace penstock::bench {

namespace {

class Ior : public Blocks {
 public:
  Ior(const WorkloadRequest& request, int64_t block, int64_t transfer)
      : Blocks({{"data", Dims{request.ior.segments, request.ranks, block}, request.type}}, false),
        transfer_(transfer),
        random_(request.ior.random),
        one_buffer_(request.ior.one_buffer),
        bytes_(bytes(request.type)) {}

  Result<Decomposition> part(int field, int rank, int size) const override {
    if (rank >= size) return Status(Code::internal, "no such rank");
    return box(field, 0, shape()[0], rank, 0, shape()[2]);
  }

  Result<std::vector<Portion>> portions(int rank, int) const override {
    std::vector<Portion> list;
    for (int64_t segment = 0; segment < shape()[0]; ++segment)
      for (int64_t at = 0; at < shape()[2]; at += transfer_) {
        PENSTOCK_ASSIGN(Decomposition one, box(0, segment, 1, rank, at, transfer_));
        list.push_back({0, std::move(one)});
      }
    if (random_) std::shuffle(list.begin(), list.end(), std::mt19937(static_cast<unsigned>(rank) + 1));
    return list;
  }

  // All transfers of a rank contain the same data.
  Run source(int field, int64_t offset) const override {
    if (!one_buffer_) return Blocks::source(field, offset);
    const int64_t rank = offset / shape()[2] % shape()[1], at = offset % transfer_;
    return {rank * shape()[2] + at, transfer_ - at};
  }

  bool in_one_buffer() const override { return one_buffer_; }

  nlohmann::json describe(int size) const override {
    return {{"shape", {shape()[0], size, shape()[2]}},
            {"order", "C"},
            {"blockSize", shape()[2] * bytes_},
            {"transferSize", transfer_ * bytes_},
            {"segmentCount", shape()[0]},
            {"randomOffset", random_},
            {"oneBuffer", one_buffer_}};
  }

 private:
  const Dims& shape() const { return fields()[0].shape; }

  Result<Decomposition> box(int field, int64_t segment, int64_t segments, int rank, int64_t at, int64_t count) const {
    return Decomposition::block(fields()[static_cast<size_t>(field)].shape, Dims{segment, rank, at},
                                Dims{segments, 1, count});
  }

  int64_t transfer_;  // elements
  bool random_, one_buffer_;
  int64_t bytes_;  // of an element
};

}  // namespace

Result<std::unique_ptr<Workload>> make_ior(const WorkloadRequest& request) {
  const int64_t size = bytes(request.type);
  const IorRequest& ior = request.ior;
  if (ior.block_bytes < 1 || ior.transfer_bytes < 1 || ior.block_bytes % ior.transfer_bytes != 0)
    return Status(Code::invalid, fmt::format("ior: --block-size {} is no multiple of --transfer-size {}",
                                             format_bytes(ior.block_bytes), format_bytes(ior.transfer_bytes)));
  if (ior.transfer_bytes % size != 0)
    return Status(Code::invalid, fmt::format("ior: --transfer-size {} is no multiple of an element of {} bytes",
                                             format_bytes(ior.transfer_bytes), size));
  if (ior.segments < 1) return Status(Code::invalid, "ior: --segment-count must be at least 1");
  return std::unique_ptr<Workload>(std::make_unique<Ior>(request, ior.block_bytes / size, ior.transfer_bytes / size));
}

}  // namespace penstock::bench
