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

// The placements: single (one file for everything) and per_rank (each rank's blocks in files of its own, packed).
std::span<const Descriptor* const> placements();

// What one rank puts of one dataset.
struct Claim {
  int dataset = 0;      // index into the catalogue
  Selection selection;  // in the dataset's shape
};

// A file of one rank under per_rank: each claim is a dataset of its own there, of the claim's packed shape.
struct OwnPart {
  std::string label;        // of the group it holds: "" where one file holds all
  Catalogue catalogue;      // of the file
  std::vector<int> claims;  // which claim each of its datasets is, in the catalogue's order
};

// Under per_rank, the files of this rank: one, or one for each top group of datasets ("" and those in no group
// together) where BY_GROUP. Attributes of file, groups and datasets are repeated in each, so that a part can be
// understood alone. Empty claims are left out.
std::vector<OwnPart> own_parts(const Catalogue& catalogue, std::span<const Claim> claims, bool by_group);

}  // namespace penstock
