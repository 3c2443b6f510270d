// Hand-made jobs for the transport mpiio: arrays in parts, dealt out to the ranks, and what is in the files afterwards.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/transport/transport.hpp"
#include "tests/harness/slice.hpp"
#include "tests/harness/values.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

using Words = std::map<std::string, std::string>;  // parameters by name
Settings settings_of(const Words& words);
std::string text(const Words& words);

struct Array {
  int32_t part = 0;
  int64_t address = 0;
  ElementType type;
  Dims shape;
  uint64_t seed = 0;
  bool swapped = false;
};

// One rank's share of an array, with memory of its own.
struct Share {
  const Array* array = nullptr;
  Slice slice;
  std::vector<std::byte> memory;
};

struct Setting {
  World& world;
  std::string name;
  std::vector<Part> parts;
  std::vector<Array> arrays;
  bool keep = false;
  bool disjoint = true;
  bool idle = false;  // ranks of even number have nothing
};

int64_t round_up(int64_t n, int64_t unit);
// BOX of SHAPE, contiguous, transposed or with ghost cells in memory.
Slice random_slice(const Dims& shape, const Box& box, Random& random);
// Arrays of every element size, swapped or not, in PARTS parts.
Setting random_setting(World& world, Random& random, int parts, bool swapped);
// All arrays over all ranks: boxes or runs, some ranks with nothing. The same dealing on all ranks.
std::vector<Share> deal_out(const Setting& s, Random& random, bool overlapping);

// The bytes that a part has when all arrays are written.
std::vector<std::byte> expected(const Setting& s, int32_t part);
// Collective.
void create_parts(const Setting& s);
// Collective. Every byte of every part, by plain system calls.
void check_parts(const Setting& s);
Job job_of(const Setting& s, Direction direction, std::vector<Share>& shares, PhaseTimes& phases);
// Collective. ORDER: Transfer::slot_order() of this rank.
Status move(const Job& job, const Settings& settings, std::vector<int64_t>* order = nullptr);
// Collective. Everything, dealt out anew, with overlaps between the ranks.
void read_all(const Setting& s, const Settings& settings, Random& random);

}  // namespace penstock::test
