// Placement: decides in which files the blocks of datasets go.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/catalogue.hpp"
#include "core/model/descriptor.hpp"
#include "core/model/layout.hpp"
#include "core/model/selection.hpp"

namespace penstock {

// The placements: single (one file for everything), per_rank (each rank's blocks in files of its own, packed), parts (M
// files, each a slab of every dataset) and rank_order (one file, each rank's blocks packed in it).
std::span<const Descriptor* const> placements();

// What one rank puts of one dataset; or one block of it that is stored together.
struct Claim {
  int dataset = 0;      // index into the catalogue
  Selection selection;  // in the dataset's shape
};

// A file that holds claims: each is a dataset of its own there, of the claim's packed shape.
struct OwnPart {
  std::string label;        // of the group it holds: "" where one file holds all
  Catalogue catalogue;      // of the file
  std::vector<int> claims;  // which claim each of its datasets is, in the catalogue's order
};

// Under per_rank, the files of this rank, or under rank_order, of all ranks' CLAIMS in the order of ranks: one, or one
// for each top group of datasets ("" and those in no group together) where BY_GROUP. Attributes of file, groups and
// datasets are repeated in each, so that a part can be understood alone. Empty claims are left out.
std::vector<OwnPart> own_parts(const Catalogue& catalogue, std::span<const Claim> claims, bool by_group);

// As own_parts with everything in one file, which is there even if nothing is in it.
OwnPart one_part(const Catalogue& catalogue, std::span<const Claim> claims);

// Under parts, what each of PARTS files holds: a slab of every dataset, cut along its first dimension that has PARTS
// rows, else along its longest. Files that would hold nothing are left out, but for the first.
std::vector<std::vector<Claim>> slabs(const Catalogue& catalogue, int parts);

// CLAIM in pieces of at most BYTES bytes, together the same elements; an element larger than that stays whole.
std::vector<Selection> cut(const Selection& selection, int64_t element_bytes, int64_t bytes);

}  // namespace penstock
