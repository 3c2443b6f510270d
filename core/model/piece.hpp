// Piece: elements on their way between a rank's memory and their place in a file, as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/claim.hpp"
#include "core/model/layout.hpp"
#include "core/model/selection.hpp"

namespace penstock {

// A file of a movement. All files of all ranks form one virtual address space, which is divided into the domains of
// writers. They exist with their full size.
struct Part {
  std::string path;
  int64_t bytes = 0;         // a multiple of the movement's block
  int64_t virtual_base = 0;  // same, and equal on all ranks that know the part
};

// Elements of this rank in row-major order of SELECTION's shape from virtual ADDRESS on, inside one part: packed, or
// with ROW_STRIDE bytes between rows of the first dimension.
struct Piece {
  int32_t part = 0;  // index into the movement's parts
  int64_t address = 0;
  int64_t element_bytes = 1;
  int64_t swap_bytes = 0;  // unit of byte reversal; 0: none
  Selection selection;
  std::byte* memory = nullptr;  // read-only when writing
  int64_t row_stride = 0;       // 0: packed; else at least the size of a row
};

// A dataset that lies in one place as a whole. A rank may know it and have no elements of it.
struct WholeDataset {
  int64_t address = 0;  // virtual
  int64_t element_bytes = 1;
  Dims shape;
};

// Fixed places for blocks whose order is only known after writing (shared file pointers). Each slot has HEADER bytes
// for the transport and room for PAYLOAD bytes of one block.
struct Slots {
  int64_t header = 0;
  int64_t payload = 0;  // 0: no slots
};

// Elements of BLOCK, which stores elements of TYPE in PARTS: WITHIN is their selection in the block's packed shape.
Piece piece_of(const StoredBlock& block, std::span<const Part> parts, const ElementType& type, Selection within,
               std::byte* memory);

// Adds the pieces of the elements that CLAIM has in BLOCKS.
void add_pieces(std::span<const StoredBlock> blocks, std::span<const Part> parts, const ElementType& type,
                const Claim& claim, std::vector<Piece>& pieces);

// Adds the dataset that is stored in BLOCKS if one block has all of it.
void add_whole(std::span<const StoredBlock> blocks, std::span<const Part> parts, const ElementType& type,
               std::vector<WholeDataset>& whole);

// The bytes of METADATA in part number PART. METADATA must outlive the piece.
Piece piece_of(const Layout::Metadata& metadata, std::span<const Part> parts, int32_t part);

}  // namespace penstock
