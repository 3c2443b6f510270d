// Pending: blocks that were put, lent or asked for, until the next commit.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/decomposition.hpp>
#include <penstock/supplier.hpp>
#include <penstock/type.hpp>

#include "core/model/selection.hpp"
#include "core/session/definitions.hpp"

namespace penstock {

// Where a get is to go in the end that is read in the type of the file.
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
  std::string meant = {};  // as in Definition
};

// The shape of the box whose memory a decomposition of one box describes.
Dims box_shape(const Decomposition& part);
// MEMORY fits PART: strides only for one box, one for each dimension.
Status check_memory(const Decomposition& part, const Memory& memory);
// Copies the elements into one contiguous block of the pending's own.
Status capture(Pending& pending);

// PENDING, of another type in the file, is read into the end of its memory, or of memory of its own; finish_widening()
// makes of it what was asked for.
Status read_as(Pending& pending, const ElementType& type);
void finish_widening(const Pending& pending);

// Where the rows of ragged lists and the rows of ranks begin, filled in after the ranks have agreed.
struct RowStart {
  int64_t ragged = 0;
  int rank = 0;
};
// The pending's elements in the dataset's final SHAPE. One selection, or one for each box; memory in elements from
// PENDING.data.
std::vector<Selection> selections(const Pending& pending, const Dims& shape, const RowStart& start);

}  // namespace penstock
