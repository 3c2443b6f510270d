// Shape: what the ranks tell each other about a collective call, and when they need not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bindings/mpiio/file.hpp"
#include "core/model/claim.hpp"

namespace penstock::mpiio {

constexpr int64_t long_run = 1 << 20;  // each rank moves such runs by itself, at once

// What the maxima over all ranks tell about an access.
struct Shape {
  int64_t bytes = 0;                 // of the rank that has most
  int64_t minus_run = -INT64_MAX;    // the mean run of the rank where it is shortest, negative
  int64_t runs = 0;                  // of the rank that has most
  int64_t span = 0;                  // from the first byte to the last, of the rank where it is longest
  int64_t minus_first = -INT64_MAX;  // the first byte of any rank, negative
  int64_t last = 0;                  // one past the last of any
  int64_t size = 0;                  // of the file
  int64_t failed = 0;
  int64_t unforeseen = 0;  // calls since the ranks last asked were not what they had expected
  int64_t calls = 1;       // that move together; the same on all ranks
  void add(std::span<const Run> runs);
};
constexpr size_t shape_words = sizeof(Shape) / sizeof(int64_t);
void append(std::vector<int64_t>& words, const Shape& shape);
Shape shape_of(std::span<const int64_t> words);

// The plan of such an access, with its transport.
const Plan& plan_for(const File& file, Direction direction, const Shape& shape);

// Whether each rank had better move its own.
bool is_alone(const File& file, Direction direction, const Shape& shape);

// Whether the ranks move this call without asking each other, after some that each moved by itself. Only where the
// program has opened the file for reading, or asks by itself before each call.
bool is_foreseen(File& file, Direction direction, const Shape& own);

// The ranks have asked each other, and SHAPE is the answer.
void learn(File& file, Direction direction, const Shape& shape);

// What the last call that one rank wrote for all has come to; the same on all ranks.
Status answer_of(File& file);

}  // namespace penstock::mpiio
