// Here: movements of one rank alone, and the pieces that reading asks for.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/model/claim.hpp"
#include "core/model/piece.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// All functions are local.

// The parts that DATASETS use, each with a place in the virtual address space. Ranks with the same datasets compute the
// same parts. The time does not grow with other datasets.
std::vector<Part> parts_of(const Contents& contents, std::span<const int> datasets, int64_t block);
// The movements that fill CLAIM of dataset INDEX. Elements in no part become zero.
void add_pieces(const Contents& contents, const std::vector<Part>& parts, int index, const Claim& claim,
                std::vector<Piece>& pieces);

// Moves PIECES of PARTS on this rank alone; does not sync.
Status move_pieces_here(Direction direction, std::vector<Part> parts, std::vector<Piece> pieces,
                        const std::shared_ptr<Files>& files);
// Reads CLAIMS of datasets of CONTENTS, on this rank alone, for every kind of storage.
Status read_here(const Contents& contents, const std::string& path, std::span<const Claim> claims,
                 const std::shared_ptr<Files>& files);
// The reverse, into parts that exist with their full size; does not sync.
Status write_here(const Contents& contents, std::span<const Claim> claims, const std::shared_ptr<Files>& files);

}  // namespace penstock
