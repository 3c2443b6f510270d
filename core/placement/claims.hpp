// Claims: which claims, or blocks of datasets, go into which file. Arithmetic only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/catalogue.hpp"
#include "core/model/claim.hpp"

namespace penstock {

// A file of claims: each claim is a dataset there, of the claim's packed shape.
struct OwnPart {
  std::string label;        // of the contained group: "" if one file holds all
  Catalogue catalogue;      // of the file
  std::vector<int> claims;  // the claim of each of its datasets, in the catalogue's order
};

// The files of this rank (per_rank), or of all ranks' CLAIMS in rank order (rank_order): one file, or if BY_GROUP one
// for each top-level group ("" and ungrouped datasets together). Attributes of file, groups and datasets are repeated
// in each, so that every part can be used alone. Empty claims are omitted.
std::vector<OwnPart> own_parts(const Catalogue& catalogue, std::span<const Claim> claims, bool by_group);

// Same as own_parts with everything in one file, which exists even if it is empty.
OwnPart one_part(const Catalogue& catalogue, std::span<const Claim> claims);

// The contents of each of PARTS files: a slab of every dataset, cut along its first dimension with PARTS rows or more,
// else along its longest dimension. Empty files are omitted, except the first.
std::vector<std::vector<Claim>> slabs(const Catalogue& catalogue, int parts);

// SELECTION in pieces of at most BYTES bytes; a larger element stays whole.
std::vector<Selection> cut(const Selection& selection, int64_t element_bytes, int64_t bytes);

}  // namespace penstock
