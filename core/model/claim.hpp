// Claim: elements of one dataset that a rank writes or reads (Direction), and where they are in its memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/supplier.hpp>

#include "core/model/selection.hpp"

namespace penstock {

// Whether data moves to files or from files.
enum class Direction : uint8_t { write, read };

struct Claim {
  int dataset = 0;      // index into a catalogue
  Selection selection;  // in the dataset's shape
  // The memory that SELECTION describes; read-only when writing. Or, when writing, the function that supplies the
  // elements instead, counted in its own order. Neither for a block of a file.
  std::byte* memory = nullptr;
  const Supplier* supplier = nullptr;
};

}  // namespace penstock
