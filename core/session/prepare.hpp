// Preparation: what the placements share when they decide where the data of a commit goes and create its files.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/session/output.hpp"

namespace penstock {

// A file that all ranks know, as rank 0 lays it out.
struct SharedPart {
  std::string path;
  Layout layout;
};

// Collective. Rank 0 calls LAY_OUT, which fills the parts, and creates them; all ranks know them then, and OUTPUT has
// them.
Result<std::vector<SharedPart>> share_parts(File::State& state, Output& output,
                                            const std::function<Status(std::vector<SharedPart>&)>& lay_out);

// How files of BYTES are to be written, where the plan leaves it open.
Io wanted_io(const File::State& state, int64_t bytes);
// Local. Creates PATH; io = auto falls back to buffered where there is no O_DIRECT.
Status create_part(File::State& state, Output& output, const std::string& path, int64_t bytes);
// Before add_metadata takes them.
FileSum head_of(const std::vector<Layout::Metadata>& metadata);
void add_metadata(Output& output, int32_t part, std::vector<Layout::Metadata> metadata);
void add_piece(Output& output, int32_t part, const Layout::Place& place, const ElementType& type, Selection selection,
               std::byte* memory);
// Contents of this generation with OUTPUT's parts, no blocks yet and without the CATALOGUE, which they get when all is
// laid out.
void begin_contents(const File::State& state, const Catalogue& catalogue, Output& output);
// What partial leaves unproved: a set whose blocks hold more elements than there are could not be read again.
Status check_counts(const Catalogue& catalogue, const Contents& contents);

// The placements; each as prepare_output.
using Prepare = Status(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                       std::span<std::byte* const> memory, Output& output);
Prepare prepare_single, prepare_slabs, prepare_per_rank, prepare_rank_order;

}  // namespace penstock
