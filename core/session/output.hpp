// Output: the files that a commit makes, from their creation to their publication.
#pragma once

#include <string>
#include <vector>

#include "core/session/state.hpp"

namespace penstock {

struct Output {
  std::vector<Part> parts;                 // that this rank has pieces in
  std::vector<Piece> pieces;               // of this rank, metadata included
  std::vector<Layout::Metadata> metadata;  // keeps the bytes of metadata pieces
  int64_t virtual_bytes = 0;
  Io io = Io::buffered;
  std::vector<std::string> created;  // by this rank; removed if the commit fails
  Contents contents;                 // complete on rank 0; of a single file on all ranks
  std::string partial;               // what rank 0 renames to the target
};

// Collective. Lays out CATALOGUE as the plan says and creates the files at their full size. MEMORY[i] belongs to
// CLAIMS[i]. On failure OUTPUT.created still says what to remove.
Status prepare_output(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                      std::span<std::byte* const> memory, Output& output);
// Rank 0. Writes the master file where there is one, renames it over the target, and removes generations that nobody
// refers to.
Status publish(File::State& state, Output& output);
void remove_created(File::State& state, const Output& output);

}  // namespace penstock
