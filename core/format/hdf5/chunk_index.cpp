// Chunk index: nodes are filled evenly, level by level (HDF5 File Format Specification, III.A.1).
#include "core/format/hdf5/chunk_index.hpp"

#include <cstring>

#include "core/hdf5/stored_bytes.hpp"

namespace penstock::hdf5 {
namespace {

constexpr int64_t children = 64;  // of a node: twice HDF5's default for chunks
constexpr uint64_t no_address = ~uint64_t{0};

// The first of COUNT things in the SHARE-th of PARTS even parts.
int64_t part_begin(int64_t count, int64_t parts, int64_t share) {
  return static_cast<int64_t>(static_cast<__int128>(count) * share / parts);
}

}  // namespace

// Writes the numbers of one node, in little-endian order.
struct ChunkIndex::Writer {
  std::byte* at;

  void number(uint64_t value, size_t bytes) {
    put_number(value, {at, bytes});
    at += bytes;
  }

  // The key to the left of a chunk.
  void key(const ChunkIndex& index, const EncodedChunk& chunk) {
    number(static_cast<uint64_t>(chunk.bytes), 4);
    number(chunk.skipped, 4);
    for (const int64_t offset : index.start_of(chunk.number)) number(static_cast<uint64_t>(offset), 8);
    number(0, 8);
  }

  // The key to the right of the last chunk: further on in every dimension.
  void last_key(const ChunkIndex& index, const EncodedChunk& chunk) {
    number(0, 8);
    const Dims start = index.start_of(chunk.number);
    for (int d = 0; d < start.rank(); ++d) number(static_cast<uint64_t>(start[d] + index.encoding_.chunk[d]), 8);
    number(static_cast<uint64_t>(index.element_bytes_), 8);
  }
};

ChunkIndex::ChunkIndex(const Dims& shape, int64_t element_bytes, const Encoding& encoding)
    : shape_(shape),
      element_bytes_(element_bytes),
      encoding_(encoding),
      node_bytes_(24 + (children + 1) * (8 + 8 * (shape.rank() + 1)) + children * 8) {
  int64_t nodes = std::ssize(encoding.chunks);
  do {
    nodes = (nodes + children - 1) / children;
    levels_.push_back(nodes);
  } while (nodes > 1);
}

int64_t ChunkIndex::other_bytes() const {
  int64_t nodes = 0;
  for (const int64_t level : levels_) nodes += level;
  return (nodes - 1) * node_bytes_;
}

Dims ChunkIndex::start_of(int64_t number) const {
  Dims start = shape_;
  for (int d = shape_.rank() - 1; d >= 0; --d) {
    const int64_t count = (shape_[d] + encoding_.chunk[d] - 1) / encoding_.chunk[d];
    start[d] = number % count * encoding_.chunk[d];
    number /= count;
  }
  return start;
}

ChunkIndex::Nodes ChunkIndex::nodes(int64_t others, int64_t data) const {
  Nodes made;
  made.root.resize(static_cast<size_t>(node_bytes_));
  made.others.resize(static_cast<size_t>(other_bytes()));
  const std::vector<EncodedChunk>& chunks = encoding_.chunks;
  std::vector<int64_t> first{};  // the first chunk below each child of this level, and one past the last
  for (int64_t i = 0; i <= std::ssize(chunks); ++i) first.push_back(i);
  int64_t below = 0, here = 0;  // the first node of the level below, and of this one, among the others
  for (size_t level = 0; level < levels_.size(); ++level) {
    const int64_t count = levels_[level], child_count = std::ssize(first) - 1;
    std::vector<int64_t> first_of_node;
    for (int64_t n = 0; n < count; ++n) {
      const bool root = level + 1 == levels_.size();
      Writer out{root ? made.root.data() : made.others.data() + (here + n) * node_bytes_};
      const auto address = [&](int64_t node) { return static_cast<uint64_t>(others + node * node_bytes_); };
      const int64_t begin = part_begin(child_count, count, n), end = part_begin(child_count, count, n + 1);
      std::memcpy(out.at, "TREE", 4);
      out.at += 4;
      out.number(1, 1);  // an index of chunks
      out.number(level, 1);
      out.number(static_cast<uint64_t>(end - begin), 2);
      out.number(n > 0 ? address(here + n - 1) : no_address, 8);
      out.number(n + 1 < count ? address(here + n + 1) : no_address, 8);
      for (int64_t c = begin; c < end; ++c) {
        const EncodedChunk& chunk = chunks[static_cast<size_t>(first[static_cast<size_t>(c)])];
        out.key(*this, chunk);
        const int64_t start = (chunk.written != 0 ? 0 : data) + chunk.offset;
        out.number(level == 0 ? static_cast<uint64_t>(start) : address(below + c), 8);
      }
      if (const auto next = static_cast<size_t>(first[static_cast<size_t>(end)]); next < chunks.size())
        out.key(*this, chunks[next]);
      else
        out.last_key(*this, chunks.back());
      first_of_node.push_back(first[static_cast<size_t>(begin)]);
    }
    first_of_node.push_back(std::ssize(chunks));
    first = std::move(first_of_node);
    below = here;
    here += count;
  }
  return made;
}

}  // namespace penstock::hdf5
