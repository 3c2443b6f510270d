// Preparation: shared by the placements when they decide where the data of a commit goes and create its files.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/session/output.hpp"

namespace penstock {

// A file that all ranks know, as laid out by rank 0.
struct SharedPart {
  std::string path;
  Layout layout;
};

// Collective. Rank 0 calls LAY_OUT, which fills the parts, and creates them. Afterwards all ranks know the parts, also
// in OUTPUT.
Result<std::vector<SharedPart>> share_parts(File::State& state, Output& output,
                                            const std::function<Status(std::vector<SharedPart>&)>& lay_out);

// The I/O mode for files of BYTES, if the plan does not set it.
Io wanted_io(const File::State& state, int64_t bytes);
// Local. Creates PATH; io = auto falls back to buffered without O_DIRECT.
Status create_part(File::State& state, Output& output, const std::string& path, int64_t bytes);
// Call before add_metadata, which takes METADATA.
FileSum head_of(const std::vector<Layout::Metadata>& metadata);
void add_metadata(Output& output, int32_t part, std::vector<Layout::Metadata> metadata);
void add_piece(Output& output, int32_t part, const Layout::Place& place, const ElementType& type, Selection selection,
               std::byte* memory);
// Starts the contents of this generation with OUTPUT's parts, without blocks and without CATALOGUE; these follow after
// the layout.
void begin_contents(const File::State& state, const Catalogue& catalogue, Output& output);
// Checks what partial leaves unproved: a set whose blocks hold more elements than it has could not be read again.
Status check_counts(const Catalogue& catalogue, const Contents& contents);

// The placements; each has the contract of prepare_output.
using Prepare = Status(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                       std::span<std::byte* const> memory, Output& output);
Prepare prepare_single, prepare_slabs, prepare_per_rank, prepare_rank_order;

}  // namespace penstock
