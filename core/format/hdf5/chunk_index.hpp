// Chunk index: where the encoded chunks of a dataset are, as HDF5's B-tree of version 1, which every release reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/encoding.hpp"

namespace penstock::hdf5 {

// The tree's root exists: libhdf5 made it. Its other nodes lie one after another, leaves first.
class ChunkIndex {
 public:
  // SHAPE and ENCODING, of one dataset, must outlive the index. REQUIRES: chunks.
  ChunkIndex(const Dims& shape, int64_t element_bytes, const Encoding& encoding);

  int64_t root_bytes() const { return node_bytes_; }
  int64_t other_bytes() const;  // of all nodes but the root

  struct Nodes {
    std::vector<std::byte> root, others;
  };
  // OTHERS: the address of the first other node; DATA: of the dataset's encoded bytes.
  Nodes nodes(int64_t others, int64_t data) const;

 private:
  struct Writer;

  Dims start_of(int64_t number) const;  // the first element of a chunk

  const Dims& shape_;
  const int64_t element_bytes_;
  const Encoding& encoding_;
  int64_t node_bytes_;
  std::vector<int64_t> levels_;  // nodes of each level, leaves first; the last one is the root
};

}  // namespace penstock::hdf5
