// Pending: blocks that were put, lent or requested, until the next commit.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/decomposition.hpp>
#include <penstock/supplier.hpp>
#include <penstock/type.hpp>

#include "core/commit/definitions.hpp"
#include "core/model/precision.hpp"
#include "core/model/selection.hpp"

namespace penstock {

// The final destination of a get that is read in the file's type.
struct Wider {
  ElementType type;
  Memory memory;
  std::byte* data = nullptr;
};

struct Pending {
  std::string name;
  ElementType type;
  Decomposition part;
  Memory memory;
  std::byte* data = nullptr;              // the user's, or captured.data()
  std::shared_ptr<std::byte[]> captured;  // of put
  Supplier supplier;                      // of supply, instead of data
  std::optional<Wider> wider = {};
  std::string meant = {}, precision = {};  // as in Definition
  std::shared_ptr<Loss> loss = {};         // of what is converted
  std::optional<Subset> subset = {};       // of what was put that this is
  int rounds_to = 0;                       // bits of the mantissa that DATA is to be rounded to; 0: it is as stored
};

// The shape of the box that the memory of a one-box decomposition describes.
Dims box_shape(const Decomposition& part);
// Checks that MEMORY fits PART: strides only for a single box, one per dimension.
Status check_memory(const Decomposition& part, const Memory& memory);
// Copies the elements into one contiguous block owned by PENDING, in the type and the PRECISION in which they are
// stored.
Status capture(Pending& pending, const Precision& precision = {});
// Whether elements of GIVEN are only rounded by PRECISION, which can wait until they are encoded.
bool only_rounds(const Precision& precision, const ElementType& given);
// Lets the elements stay where they are, to be rounded later: by round_now(), or on their way.
Status round_later(Pending& pending, const Precision& precision);
Status round_now(Pending& pending);
// The same for elements that CAPTURED has already.
Status convert_captured(Pending& pending, const Precision& precision);
// The same for what PENDING's supplier yields.
Status convert_supplied(Pending& pending, const Precision& precision);

// Prepares PENDING for another type in the file: it is read into the end of its memory, or into memory of its own.
// finish_widening() then converts it.
Status read_as(Pending& pending, const ElementType& type);
void finish_widening(const Pending& pending);

// The first row of ragged lists and of the ranks' rows, known after the ranks have agreed.
struct RowStart {
  int64_t ragged = 0;
  int rank = 0;
};
// The last selections of runs, since many datasets usually have one of few decompositions: equal lists share memory.
class SeenRuns {
 public:
  // RUNS must outlive this object.
  Selection of(const Dims& shape, std::span<const Run> runs);

 private:
  struct Seen {
    std::span<const Run> runs;
    Selection selection;
  };
  std::vector<Seen> seen_;
};

// The elements of PENDING in the dataset's final SHAPE: one selection, or one per box. Memory offsets are in elements
// from PENDING.data. PENDING must outlive SEEN.
std::vector<Selection> selections(const Pending& pending, const Dims& shape, const RowStart& start, SeenRuns& seen);

}  // namespace penstock
