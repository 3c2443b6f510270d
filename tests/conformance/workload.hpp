// Workload: datasets, which rank writes which part of them, and how they are read back under another decomposition.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/attribute.hpp>
#include <penstock/type.hpp>

#include "tests/harness/slice.hpp"

namespace penstock::test {

// One dataset, the same on all ranks but for PARTS, which are this rank's, in the order in which it puts them.
struct Field {
  std::string name;
  ElementType type;
  Dims shape;
  std::vector<Slice> parts;
  bool unlimited = false;

  uint64_t seed() const;  // from the name, so that a reader needs no more
};

struct ObjectAttribute {
  std::string object;
  Attribute attribute;
  bool mine = true;  // this rank sets it
};

struct Content {
  std::vector<Field> fields;
  std::vector<ObjectAttribute> attributes;
};

struct Workload {
  std::string_view name;
  Content (*make)(int rank, int size);
};

// SMALL_CHUNKS: for files of chunks of a few hundred bytes. On several ranks, "large" is then a quarter as large, and
// has thousands of chunks still.
std::span<const Workload> workloads(bool small_chunks);
// All of them in one file, each in a group of its name.
Content everything(int rank, int size, bool small_chunks);

// Ways to read a dataset of SHAPE; each gives this rank's slices. Some overlap between ranks, some leave ranks
// without anything.
inline constexpr int reading_ways = 7;
std::vector<Slice> reading(const Dims& shape, int way, uint64_t seed, int rank, int size);

}  // namespace penstock::test
